import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { loadLog } from '../../../packages/holdfast/src/store/jsonl/log/load-log.ts'
import { readRecordsAt } from '../../../packages/holdfast/src/store/jsonl/log/log-index.ts'
import { fill } from '../fill.ts'
import { mustOpen } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { sampled } from '../sampled.ts'
import { useScratch } from '../scratch.ts'
import { blobPathIn } from '../subject/blobs.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { digestOf, recordAt, sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
/** A log of short records, so that every bit can be tested. */
const shortLog = 22
const damagedSeq = 3

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return copy
}
/** Returns a different bit position for each byte. */
const bitsOf = (from: number, upTo: number): readonly number[] =>
  sampled(
    Array.from({ length: (upTo - from) * 8 }, (_, index) => from * 8 + index),
    11,
  )

it.each([true, false])(
  'D7 JSONL: each flipped bit in the middle loses only its record; with a catalogue: %s',
  async (hasCatalogue) => {
    const location = scratch.location('jsonl')
    const head = (await fill(location, shortLog, 4)).at(-1) ?? 0
    const session = sessionOf(shortLog)
    const file = `${session}.jsonl`
    const whole = readFileSync(join(location.directory, file))
    const ends = [...whole.keys()].filter((at) => whole[at] === 10)
    const [from = 0, end = 0] = [(ends[damagedSeq - 1] ?? 0) + 1, ends[damagedSeq] ?? 0]
    const known = hasCatalogue ? { parent: null, base: 0, head, bytes: whole.length } : null
    const seqs = Array.from({ length: head }, (_, index) => index + 1)
    const path = join(scratch.home, 'flipped.jsonl')
    const bits = bitsOf(from, end)
    const violations: string[] = []

    for (const bit of bits) {
      writeFileSync(path, flipped(whole, bit))
      const log = await loadLog({ path, session, known, isShared: false })
      const records = log === null ? [] : await readRecordsAt(path, session, seqs, log.index)
      const read = records.map((record) => ('lost' in record ? 'lost' : digestOf(record)))
      const meant = seqs.map((seq) => (seq === damagedSeq ? 'lost' : digestOf(recordAt(shortLog, seq).record)))
      if (read.join() !== meant.join() || log?.torn !== null) violations.push(`bit ${bit}: ${read.join()}`)
    }
    expect(violations).toEqual([])

    for (const bit of bits.filter((_, index) => index % 41 === 0)) {
      const damaged: SubjectLocation = { kind: 'jsonl', directory: scratch.directory() }
      cpSync(location.directory, damaged.directory, { recursive: true })
      writeFileSync(join(damaged.directory, file), flipped(whole, bit))
      if (!hasCatalogue) writeFileSync(join(damaged.directory, 'catalogue.jsonl'), '')
      const witness = { log: shortLog, submitted: head, acknowledged: head, damaged: [damagedSeq] }
      expect((await verify({ location: damaged, witnesses: [witness] })).violations).toEqual([])
    }
  },
)

it('D7 SQLite: each flipped bit of a record loses only that record', async () => {
  const location = scratch.location('inline')
  const head = (await fill(location, shortLog, 4)).at(-1) ?? 0
  const path = databaseIn(location.directory)
  const whole = readFileSync(path)
  const body = Buffer.from(recordAt(shortLog, damagedSeq).body)
  const from = whole.indexOf(body)
  expect(from).toBeGreaterThan(0)
  const expected = Array.from({ length: head }, (_, index) =>
    index + 1 === damagedSeq ? 'lost' : digestOf(recordAt(shortLog, index + 1).record),
  )
  for (const [index, bit] of bitsOf(from, from + body.length).entries()) {
    const damaged: SubjectLocation = { kind: 'inline', directory: scratch.directory() }
    cpSync(location.directory, damaged.directory, { recursive: true })
    writeFileSync(databaseIn(damaged.directory), flipped(whole, bit))
    const subject = await mustOpen(damaged)
    expect(await subject.read(shortLog, head), `bit ${bit}`).toEqual(expected)
    await subject.close()
    if (index % 41 !== 0) continue
    const witness = { log: shortLog, submitted: head, acknowledged: head, damaged: [damagedSeq] }
    expect((await verify({ location: damaged, witnesses: [witness] })).violations).toEqual([])
  }
})

it('D7 blobs: each flipped bit is detected, and the next put repairs the blob', async () => {
  const location = scratch.location('blobs')
  await fill(location, 1, 3)
  const path = blobPathIn(location.directory, 1, 2)
  const whole = readFileSync(path)
  const subject = await mustOpen(location)
  for (const bit of bitsOf(0, whole.length)) {
    writeFileSync(path, flipped(whole, bit))
    expect((await subject.read(1, 3))[1], `bit ${bit}`).toBe('lost')
  }
  expect(await subject.submit(1, 1)).toMatchObject({ ok: true })
  await subject.close()
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: 3, acknowledged: 3 }] })
  expect(verdict.violations).toEqual([])
})
