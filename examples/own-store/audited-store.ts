import type { Store } from 'holdfast'

/** Writes a line for each appended record. Everything else is done by the inner store. */
export function createAuditedStore(inner: Store, write: (line: string) => void): Store {
  return {
    ...inner,
    async append(batch) {
      const appended = await inner.append(batch)
      if (appended.ok) for (const { record } of batch.records) write(`${record.seq} ${record.event.type}`)
      return appended
    },
  }
}
