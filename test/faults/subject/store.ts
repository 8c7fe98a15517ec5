import type { OnProblem, Store } from '@holdfast/core/ports'
import { ok, type Result } from '@holdfast/protocol'
import { openJsonlStore, openSqliteStore } from '../../../packages/holdfast/src/entry/store.ts'
import { appendTo, digestOf, type LogNumber, newSessionOf, sessionOf, writerNode } from '../workload.ts'
import { databaseIn, type Read, type Subject } from './subject.ts'

const pageMax = 1000

/** A whole store, as the runtime opens it. */
export async function openStoreSubject(
  kind: 'sqlite' | 'jsonl',
  directory: string,
  onProblem: OnProblem,
): Promise<Result<Subject>> {
  const opened = await openStore(kind, directory, onProblem)
  return opened.ok ? ok(createStoreSubject(opened.value)) : opened
}

export const openStore = (
  kind: 'sqlite' | 'jsonl',
  directory: string,
  onProblem: OnProblem = () => undefined,
): Promise<Result<Store>> =>
  kind === 'sqlite'
    ? openSqliteStore({ path: databaseIn(directory) })
    : openJsonlStore({ directory, now: Date.now, entryOf: async () => null, onProblem })

export function createStoreSubject(store: Store): Subject {
  const epochs = new Map<LogNumber, number>()

  async function submit(log: LogNumber, head: number): Promise<Result<void>> {
    if (head === 0) {
      const created = await store.create(newSessionOf(log))
      if (created.ok) epochs.set(log, 1)
      return created
    }
    let epoch = epochs.get(log)
    if (epoch === undefined) {
      const lease = await store.claim(sessionOf(log), writerNode, writerNode)
      if (!lease.ok) return lease
      epoch = lease.value.epoch
      epochs.set(log, epoch)
    }
    return store.append(appendTo(log, head, epoch))
  }

  return {
    submit,
    async read(log) {
      const read: Read[] = []
      for (;;) {
        const page = await store.read(sessionOf(log), { after: read.length, limit: pageMax })
        for (const record of page) {
          if (record.seq !== read.length + 1) read.push('missing')
          read.push('lost' in record ? 'lost' : digestOf(record))
        }
        if (page.length < pageMax) return read
      }
    },
    async page(session, after, limit) {
      const records = await store.read(session, { after, limit })
      return records.map((record) => ('lost' in record ? 'lost' : digestOf(record)))
    },
    head: async (log) => (await store.entry(sessionOf(log)))?.head ?? 0,
    close: () => store.close(),
  }
}
