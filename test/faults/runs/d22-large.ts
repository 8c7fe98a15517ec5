import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Append, Store } from '@holdfast/core/ports'
import { type Shown, verify } from '../pass-criterion.ts'
import type { Row, RowRun } from '../row.ts'
import { openStore } from '../subject/store.ts'
import { databaseIn } from '../subject/subject.ts'
import { appendTo, digestOf, newSessionOf, recordAt, sessionOf } from '../workload.ts'

const kinds = ['sqlite', 'jsonl'] as const
const batch = 2000
const recordsAll = 1_000_000
const recordsQuick = 20_000
/** Opening 100 MB may take 3 s, so 1 GB may take 30 s. */
const openMsMax = 30_000
const pageMsMax = 1000
const pageRecords = 1000
/** The padding that makes a million records a gigabyte. */
const padding = 'x'.repeat(900)

const paddedAt = (seq: number): Append['records'][number] => {
  const { record } = recordAt(1, 1 + (seq % 50))
  const event = { ...record.event, text: `${seq} ${padding}` } as typeof record.event // `recordAt` returns a text.said
  return { record: { ...record, seq, event }, body: JSON.stringify(event) }
}

/** Opens a log of a million records and a gigabyte, reads its beginning, middle and end, and appends to it. */
export const largeLog: Row = {
  name: 'D22',
  fault: 'a log of 1 GB and a million records',
  needs: [],
  async run({ isQuick, home }: RowRun) {
    const count = isQuick ? recordsQuick : recordsAll
    const violations: string[] = []
    const figures: string[] = []
    for (const kind of kinds) {
      const directory = join(home, kind)
      mkdirSync(directory, { mode: 0o700 })
      await write(kind, directory, count)
      const path = kind === 'sqlite' ? databaseIn(directory) : join(directory, `${sessionOf(1)}.jsonl`)
      const sinceMs = performance.now()
      const store = await mustOpen(kind, directory)
      const lease = await store.claim(sessionOf(1), 'faults', 'faults')
      const openMs = performance.now() - sinceMs
      if (!lease.ok) throw new Error(lease.fault.message)
      if (lease.value.head !== count) violations.push(`P1 ${kind}: ${count} acknowledged, ${lease.value.head} there`)
      if (openMs > openMsMax) violations.push(`${kind}: opened in ${Math.round(openMs)} ms`)
      const shown = partsOf(count)
      for (const { after } of shown) {
        const fromMs = performance.now()
        await store.read(sessionOf(1), { after, limit: pageRecords })
        if (performance.now() - fromMs > pageMsMax) violations.push(`${kind}: a page after ${after} took too long`)
      }
      const { epoch } = lease.value
      const more = await store.append({ ...appendTo(1, count, epoch), records: [paddedAt(count + 1)] })
      if (!more.ok) violations.push(`P6 ${kind}: ${more.fault.message}`)
      await store.close()
      const megabytes = Math.round(statSync(path).size / 1_000_000)
      violations.push(...(await verify({ location: { kind, directory }, shown })).violations)
      figures.push(`${kind} ${count} records, ${megabytes} MB, opened in ${Math.round(openMs)} ms`)
    }
    return { did: figures.join('; '), violations }
  },
}

/** Reads the beginning, the middle and the end: the whole log would not fit into memory. */
const partsOf = (count: number): readonly Shown[] =>
  [0, Math.floor(count / 2), count - pageRecords].map((after) => ({
    session: sessionOf(1),
    after,
    digests: Array.from({ length: pageRecords }, (_, index) => digestOf(paddedAt(after + index + 1).record)),
  }))

async function mustOpen(kind: (typeof kinds)[number], directory: string): Promise<Store> {
  const opened = await openStore(kind, directory)
  if (!opened.ok) throw new Error(opened.fault.message)
  return opened.value
}

async function write(kind: (typeof kinds)[number], directory: string, count: number): Promise<void> {
  const store = await mustOpen(kind, directory)
  const created = await store.create({ ...newSessionOf(1), records: [paddedAt(1)] })
  if (!created.ok) throw new Error(created.fault.message)
  for (let head = 1; head < count; ) {
    const records = Array.from({ length: Math.min(batch, count - head) }, (_, index) => paddedAt(head + index + 1))
    const answer = await store.append({ ...appendTo(1, head, 1), records })
    if (!answer.ok) throw new Error(answer.fault.message)
    head += records.length
  }
  await store.close()
}
