import { writeSync } from 'node:fs'
import type { Append, NewSession } from '@holdfast/core/ports'
import { openJsonlStore } from './jsonl-store.ts'

export type JsonlTask = {
  readonly directory: string
  /** One for each session that is appended to concurrently. */
  readonly sessions: readonly { readonly create: NewSession; readonly append: Append }[]
  /** The number of batches per session, appended one by one. */
  readonly count: number
  /** The number of records per batch. */
  readonly batch: number
}

// A process that appends and prints what was acknowledged, so that a test can kill it.
const { directory, sessions, count, batch }: JsonlTask = JSON.parse(process.argv[2] ?? '')
const entryOf = async () => null
const opened = await openJsonlStore({ directory, now: Date.now, entryOf, onProblem: () => undefined })
writeSync(1, opened.ok ? 'open\n' : `refused ${opened.fault.code} ${JSON.stringify(opened.fault.details)}\n`)
if (opened.ok) {
  const store = opened.value
  await Promise.all(
    sessions.map(async ({ create, append }) => {
      const { session } = create
      const known = await store.entry(session)
      if (known === null) {
        const created = await store.create(create)
        writeSync(1, created.ok ? `ack ${session} 1\n` : `refused ${created.fault.code}\n`)
      }
      let after = known?.head ?? 1
      for (let number = 0; number < count; number++) {
        const records = Array.from({ length: batch }, (_, index) =>
          append.records.map(({ record, body }) => ({ record: { ...record, seq: after + index + 1 }, body })),
        ).flat()
        const result = await store.append({ ...append, after, records })
        if (result.ok) after += batch
        writeSync(1, result.ok ? `ack ${session} ${after}\n` : `refused ${result.fault.code}\n`)
      }
    }),
  )
  if (count === 0) await new Promise((resolve) => setTimeout(resolve, 1_000_000)) // holds the directory until it is ended
  await store.close()
}
