import { appendFileSync, copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDice } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { fill } from '../fill.ts'
import { mustOpen } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter, sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const dice = createDice(6)
const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, () => dice.below(256)))

const tails: readonly (readonly [string, (last: Buffer) => Buffer])[] = [
  ['zeros', (last) => Buffer.alloc(last.length)],
  ['random bytes', (last) => noise(last.length)],
  ['half of the record', (last) => last.subarray(0, last.length / 2)],
  ['half of it, then zeros', (last) => Buffer.concat([last.subarray(0, last.length / 2), Buffer.alloc(900)])],
  ['half a character', (last) => Buffer.concat([last.subarray(0, 60), Buffer.from([0xf0, 0x9f, 0x90])])],
  ['half an escape', (last) => Buffer.concat([last.subarray(0, 60), Buffer.from('\\ud83d\\u')])],
  ['the record twice, its break gone', (last) => Buffer.concat([last.subarray(0, -1), last.subarray(0, -9)])],
]

it.each(tails)('D6 JSONL: a last batch that became %s is ignored and saved aside', async (_, tailOf) => {
  const location = scratch.location('jsonl')
  const [before = 0] = (await fill(location, 1, 3)).slice(-1)
  const path = join(location.directory, `${sessionOf(1)}.jsonl`)
  const synced = readFileSync(path)
  copyFileSync(join(location.directory, 'catalogue.jsonl'), join(scratch.home, 'catalogue'))
  const [after = 0] = await fill(location, 1, 1)
  const tail = tailOf(readFileSync(path).subarray(synced.length))
  // The catalogue is written after the log, so it never has unacknowledged records.
  copyFileSync(join(scratch.home, 'catalogue'), join(location.directory, 'catalogue.jsonl'))
  writeFileSync(path, Buffer.concat([synced, tail]))

  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: after, acknowledged: before }] })
  expect(verdict.violations).toEqual([])
  const torn = readFileSync(`${path}.torn-1`)
  expect(tail.includes(torn)).toBe(true)
})

it.each(tails)('D6 SQLite: a write-ahead log that ends in %s returns the commits before it', async (_, tailOf) => {
  const { location, head, wal } = await openAndKilled()
  const path = `${databaseIn(location.directory)}-wal`
  appendFileSync(path, tailOf(wal.subarray(-4120)))
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: head, acknowledged: head }] })
  expect(verdict.violations).toEqual([])
})

/** A store after its writer was killed: the acknowledged appends are only in the write-ahead log. */
async function openAndKilled(): Promise<{
  readonly location: SubjectLocation
  readonly head: number
  readonly wal: Buffer
}> {
  const [living, location] = [scratch.location('inline'), scratch.location('inline')]
  const subject = await mustOpen(living)
  let head = 0
  for (let appends = 0; appends < 4; appends++) {
    expect(await subject.submit(1, head)).toMatchObject({ ok: true })
    head += batchAfter(head)
  }
  cpSync(living.directory, location.directory, { recursive: true })
  rmSync(`${databaseIn(location.directory)}-shm`)
  await subject.close()
  return { location, head, wal: readFileSync(`${databaseIn(location.directory)}-wal`) }
}

it('D6 blobs: a crashed put leaves no blob and affects no other', async () => {
  const location = scratch.location('blobs')
  await fill(location, 1, 2)
  for (const bytes of [Buffer.alloc(700), noise(700), Buffer.alloc(0)])
    writeFileSync(join(location.directory, `new-${dice.below(1e9)}`), bytes)
  const verdict = await verify({ location, witnesses: [{ log: 1, submitted: 2, acknowledged: 2 }] })
  expect(verdict.violations).toEqual([])
})
