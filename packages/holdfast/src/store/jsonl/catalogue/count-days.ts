import type { ReadRecord } from '@holdfast/core/ports'
import type { TypeCount } from '../../read-only-store.ts'

/** How many records there are of each type and day; those that are lost are of neither. */
export async function countDays(records: AsyncIterable<ReadRecord>): Promise<readonly TypeCount[]> {
  const counts = new Map<string, TypeCount>()
  for await (const record of records) {
    if ('lost' in record) continue
    const { type } = record.event
    const day = record.at.slice(0, 10)
    const name = `${day} ${type}`
    counts.set(name, { type, day, count: (counts.get(name)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}
