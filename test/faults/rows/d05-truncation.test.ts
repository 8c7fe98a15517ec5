import { copyFileSync, cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadLog } from '../../../packages/holdfast/src/store/jsonl/log/load-log.ts'
import { fill } from '../fill.ts'
import { mustOpen } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { sampled } from '../sampled.ts'
import { useScratch } from '../scratch.ts'
import { blobPathIn } from '../subject/blobs.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter, sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const atOnceMax = 8
const logFile = `${sessionOf(1)}.jsonl`

/** Tests each offset of a file on its own copy, a few at a time. */
async function atEach(offsets: readonly number[], look: (offset: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < offsets.length; from += atOnceMax)
    await Promise.all(offsets.slice(from, from + atOnceMax).map(look))
}

const upTo = (last: number, from = 0): readonly number[] =>
  Array.from({ length: last - from + 1 }, (_, index) => from + index)

/** A log of short records, so that every byte can be tested. */
const shortLog = 22

it.each([
  { has: 'its catalogue', hasCatalogue: true },
  { has: 'no catalogue', hasCatalogue: false },
])(
  'D5 JSONL with $has: truncated at every byte, returns the complete batches before the cut',
  async ({ hasCatalogue }) => {
    const location = scratch.location('jsonl')
    const heads = await fill(location, shortLog, 4)
    const session = sessionOf(shortLog)
    const file = `${session}.jsonl`
    const whole = readFileSync(join(location.directory, file))
    const [header = 0, ...ends] = upTo(whole.length).filter((offset) => offset > 0 && whole[offset - 1] === 10)
    // A line that lacks only its line break is complete.
    const headAt = (offset: number): number => heads.findLast((head) => offset >= (ends[head - 1] ?? 0) - 1) ?? 0
    const catalogued = { parent: null, base: 0, head: heads.at(-1) ?? 0, bytes: whole.length }
    const known = hasCatalogue ? catalogued : null

    const isNearEnd = (offset: number) => ends.some((end) => Math.abs(end - offset) <= 1)
    for (const offset of sampled(upTo(whole.length, header - 1), 7, isNearEnd)) {
      const path = join(scratch.home, `cut-${offset}`)
      writeFileSync(path, whole.subarray(0, offset))
      const log = await loadLog({ path, session, known, isShared: false })
      expect(log?.index.head(), `cut at ${offset}`).toBe(headAt(offset))
      const torn = log?.torn === null || log === null ? Buffer.alloc(0) : readFileSync(log.torn.path)
      expect(Buffer.concat([readFileSync(path), torn])).toEqual(whole.subarray(0, offset))
    }

    const violations: string[] = []
    const firstEnd = ends[0] ?? 0
    const some = upTo(whole.length, firstEnd - 1).filter((offset) => isNearEnd(offset) || offset % 301 === 0)
    await atEach(some, async (offset) => {
      const cut: SubjectLocation = { kind: 'jsonl', directory: scratch.directory() }
      cpSync(location.directory, cut.directory, { recursive: true })
      if (!hasCatalogue) rmSync(join(cut.directory, 'catalogue.jsonl'))
      truncateSync(join(cut.directory, file), offset)
      const head = headAt(offset)
      const verdict = await verify({
        location: cut,
        witnesses: [{ log: shortLog, submitted: head, acknowledged: head }],
      })
      violations.push(...verdict.violations.map((one) => `${offset}: ${one}`))
    })
    expect(violations).toEqual([])
    expect(some.length).toBeGreaterThan(20)
  },
)

it('D5 JSONL: a header truncated at any byte is not a session, and is not changed', async () => {
  const location = scratch.location('jsonl')
  await fill(location, 1, 1)
  await fill(location, 2, 1)
  rmSync(join(location.directory, 'catalogue.jsonl'))
  const path = join(location.directory, logFile)
  const header = readFileSync(path).subarray(0, readFileSync(path).indexOf(10))
  for (const offset of upTo(header.length - 1).filter((one) => one % 16 === 0)) {
    writeFileSync(path, header.subarray(0, offset))
    const subject = await mustOpen(location)
    expect(await subject.read(1, 0), `cut at ${offset}`).toEqual([])
    expect(await subject.head(2)).toBe(1)
    await subject.close()
    expect(readFileSync(path)).toEqual(header.subarray(0, offset))
  }
})

it('D5 SQLite: a write-ahead log truncated in every sector and around each frame returns complete batches', async () => {
  const location = scratch.location('inline')
  const { path, heads } = await fillUnfolded(location)
  const size = statSync(`${path}-wal`).size
  const frameBytes = 4096 + 24
  const nearFrame = (offset: number): boolean => (offset - 32) % frameBytes < 2
  const offsets = upTo(size).filter((offset) => offset % 512 === 8 || nearFrame(offset) || offset > size - 10)
  const violations: string[] = []
  let last = 0
  await atEach(sampled(offsets, 5, nearFrame), async (offset) => {
    const cut: SubjectLocation = { kind: 'inline', directory: scratch.directory() }
    cpSync(location.directory, cut.directory, { recursive: true })
    rmSync(`${databaseIn(cut.directory)}-shm`, { force: true })
    truncateSync(`${databaseIn(cut.directory)}-wal`, offset)
    const subject = await mustOpen(cut)
    const head = await subject.head(1)
    await subject.close()
    if (head !== 0 && !heads.includes(head)) violations.push(`${offset}: ${head} ends within a batch`)
    if (offset === size) last = head
    const witness = { log: 1, submitted: heads.at(-1) ?? 0, acknowledged: head }
    const verdict = await verify({ location: cut, witnesses: [witness] })
    violations.push(...verdict.violations.map((one) => `${offset}: ${one}`))
    rmSync(cut.directory, { recursive: true })
  })
  expect(violations).toEqual([])
  expect(last).toBe(heads.at(-1))
})

/** Leaves the records in the write-ahead log, like a killed writer: copies the files while the store is open. */
async function fillUnfolded(
  location: SubjectLocation,
): Promise<{ readonly path: string; readonly heads: readonly number[] }> {
  const living: SubjectLocation = { kind: 'inline', directory: scratch.directory() }
  const subject = await mustOpen(living)
  const heads: number[] = []
  for (let head = 0; heads.length < 4; heads.push(head)) {
    expect(await subject.submit(1, head)).toMatchObject({ ok: true })
    head += batchAfter(head)
  }
  cpSync(living.directory, location.directory, { recursive: true })
  const path = databaseIn(location.directory)
  copyFileSync(`${databaseIn(living.directory)}-wal`, `${path}-wal`)
  await subject.close()
  return { path, heads }
}

it('D5 blobs: a blob truncated at any byte is reported as damaged, and repaired by the next put', async () => {
  const location = scratch.location('blobs')
  await fill(location, 1, 3)
  const names = readFileOf(location)
  for (const offset of sampled(upTo(names.bytes.length - 1), 3)) {
    writeFileSync(names.path, names.bytes.subarray(0, offset))
    const subject = await mustOpen(location)
    expect((await subject.read(1, 3))[0], `cut at ${offset}`).toBe('lost')
    await subject.close()
  }
  const subject = await mustOpen(location)
  expect(await subject.submit(1, 0)).toMatchObject({ ok: true })
  await subject.close()
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: 3, acknowledged: 3 }] })
  expect(verdict.violations).toEqual([])
})

function readFileOf({ directory }: SubjectLocation): { readonly path: string; readonly bytes: Buffer } {
  const path = blobPathIn(directory, 1, 1)
  return { path, bytes: readFileSync(path) }
}
