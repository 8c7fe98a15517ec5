import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createDice, type Dice } from '@holdfast/testkit'
import { expect, it } from 'vitest'
import { openForWriting } from '../../../packages/holdfast/src/store/sqlite/files/database-file.ts'
import { createReader } from '../../../packages/holdfast/src/store/sqlite/read/reader.ts'
import { mustOpen } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter, sessionOf } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const sectorBytes = 512
const seeds = Array.from({ length: 40 }, (_, index) => index + 1)

/** Keeps a random subset of the unsynced sectors; the others have their old content or none. */
function unsynced(before: Buffer, after: Buffer, dice: Dice): Buffer {
  const length = dice.chance(1, 3) ? before.length + dice.below(after.length - before.length + 1) : after.length
  const disk = Buffer.alloc(Math.max(length, before.length))
  before.copy(disk)
  for (let from = 0; from < disk.length; from += sectorBytes) {
    if (dice.chance(1, 2)) after.copy(disk, from, from, Math.min(from + sectorBytes, disk.length))
    else if (from >= before.length && dice.chance(1, 4))
      disk.fill(dice.below(256), from, Math.min(from + sectorBytes, disk.length))
  }
  return disk
}

/** Appends, and returns the files before and after the last append. */
async function lastAppend(location: SubjectLocation, log: number, appends: number, snap: () => Buffer) {
  const subject = await mustOpen(location)
  let head = 0
  for (let number = 0; number < appends; number++) {
    expect(await subject.submit(log, head)).toMatchObject({ ok: true })
    head += batchAfter(head)
  }
  const before = snap()
  expect(await subject.submit(log, head)).toMatchObject({ ok: true })
  return { subject, acknowledged: head, submitted: head + batchAfter(head), before, after: snap() }
}

it.each(seeds)(
  'D8 JSONL: recovers with any subset of the unsynced sectors of the last append (SEED=%i)',
  async (seed) => {
    const dice = createDice(seed)
    const [log, location] = [1 + dice.below(40), scratch.location('jsonl')]
    const path = join(location.directory, `${sessionOf(log)}.jsonl`)
    const snap = () => readFileSync(path)
    const { subject, acknowledged, submitted, before, after } = await lastAppend(location, log, 1 + dice.below(6), snap)
    await subject.close()
    rmSync(join(location.directory, 'catalogue.jsonl')) // its last lines were not synced either
    writeFileSync(path, unsynced(before, after, dice))
    const verdict = await verify({ location, witnesses: [{ log, submitted, acknowledged }] })
    expect(verdict.violations).toEqual([])
  },
)

it.each(seeds)(
  'D8 SQLite: recovers with any subset of the unsynced sectors of the write-ahead log (SEED=%i)',
  async (seed) => {
    const dice = createDice(seed)
    const [log, living, location] = [1 + dice.below(40), scratch.location('inline'), scratch.location('inline')]
    const wal = `${databaseIn(living.directory)}-wal`
    const { subject, acknowledged, submitted, before, after } = await lastAppend(living, log, 1 + dice.below(6), () =>
      readFileSync(wal),
    )
    cpSync(living.directory, location.directory, { recursive: true })
    await subject.close()
    rmSync(`${databaseIn(location.directory)}-shm`)
    writeFileSync(`${databaseIn(location.directory)}-wal`, unsynced(before, after, dice))
    const verdict = await verify({ location, witnesses: [{ log, submitted, acknowledged }] })
    expect(verdict.violations).toEqual([])
  },
)

it.each(seeds)(
  'D8 SQLite: recovers with any subset of the unsynced sectors of a checkpoint (SEED=%i)',
  async (seed) => {
    const dice = createDice(seed)
    const [log, living, location] = [1 + dice.below(40), scratch.location('inline'), scratch.location('inline')]
    const path = databaseIn(living.directory)
    const { subject, submitted } = await lastAppend(living, log, 1 + dice.below(6), () => readFileSync(path))
    // An open reader prevents the truncation of the write-ahead log, like a crash before the end of a checkpoint.
    const reader = createReader(path)
    reader.ask('nodes')
    const before = readFileSync(path)
    cpSync(living.directory, location.directory, { recursive: true })
    const other = openForWriting(path)
    other.prepare('pragma wal_checkpoint(passive)').get()
    const after = readFileSync(path)
    for (const open of [other, reader]) open.close()
    await subject.close()
    rmSync(`${databaseIn(location.directory)}-shm`)
    const disk = unsynced(before, after, dice)
    writeFileSync(
      databaseIn(location.directory),
      disk.length < after.length ? Buffer.concat([disk, Buffer.alloc(after.length - disk.length)]) : disk,
    )
    const verdict = await verify({ location, witnesses: [{ log, submitted, acknowledged: submitted }] })
    expect(verdict.violations).toEqual([])
  },
)
