import { writeSync } from 'node:fs'
import type { Append, NewSession } from '@holdfast/core/ports'
import { openSqliteStore } from './sqlite-store.ts'

export type AppendTask = {
  readonly path: string
  /** The number of records to append, one by one. */
  readonly count: number
  readonly create: NewSession
  /** An append of one record; each append repeats it at the next seq. */
  readonly append: Append
}

// Appends in its own process and prints each acknowledged append, so that a test can kill it.
const { path, count, create, append }: AppendTask = JSON.parse(process.argv[2] ?? '')
const opened = await openSqliteStore({ path })
if (!opened.ok) throw new Error(opened.fault.message)
const store = opened.value

const created = await store.create(create)
writeSync(1, created.ok ? 'ack 1\n' : `refused ${created.fault.code}\n`)
for (let after = 1; after <= count; after++) {
  const records = append.records.map(({ record, body }) => ({ record: { ...record, seq: after + 1 }, body }))
  const result = await store.append({ ...append, after, records })
  writeSync(1, result.ok ? `ack ${after + 1}\n` : `refused ${result.fault.code}\n`)
}
await store.close()
