import type { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openForWriting } from '../../../packages/holdfast/src/store/sqlite/files/database-file.ts'
import { createWriter } from '../../../packages/holdfast/src/store/sqlite/write/writer.ts'
import { allCalls, breakDisk, type DiskCall, type DiskFault, syncCalls, writeCalls } from '../failing-disk.ts'
import { openSubject } from '../open-subject.ts'
import { type Report, verify } from '../pass-criterion.ts'
import { useScratch } from '../scratch.ts'
import { openInlineSubject } from '../subject/inline-sqlite.ts'
import { databaseIn, type Subject, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter } from '../workload.ts'

const scratch = useScratch({ inMemory: true })
const appends = 3
const runsMax = 200

type Progress = { head: number; submitted: number; readonly reports: Report[] }

/** Appends until the first refusal, reports it and does not try again. */
async function append(
  subject: Subject,
  kind: SubjectLocation['kind'],
  progress: Progress,
  count: number,
): Promise<boolean> {
  for (let number = 0; number < count; number++) {
    const upTo = progress.head + (kind === 'blobs' ? 1 : batchAfter(progress.head))
    progress.submitted = Math.max(progress.submitted, upTo)
    const sinceMs = performance.now()
    const answer = await subject.submit(1, progress.head)
    if (!answer.ok) {
      progress.reports.push({ fault: answer.fault, afterMs: performance.now() - sinceMs })
      return false
    }
    progress.head = upTo
  }
  return true
}

/** Makes the n-th call fail, heals the disk and continues with the same open store. Returns whether the fault occurred. */
async function failAt(kind: 'jsonl' | 'blobs', fault: Omit<DiskFault, 'below'>): Promise<boolean> {
  const location = scratch.location(kind)
  const progress: Progress = { head: 0, submitted: 0, reports: [] }
  const disk = await breakDisk({ ...fault, below: location.directory })
  try {
    let opened = await openSubject(location)
    if (!opened.ok) {
      progress.reports.push({ fault: opened.fault, afterMs: 0 })
      disk.heal()
      opened = await openSubject(location)
      if (!opened.ok) throw new Error(`not recovered: ${opened.fault.message}`)
    }
    const subject = opened.value
    const isThrough = await append(subject, kind, progress, appends)
    disk.heal()
    // Without a restart, and without a second copy of the refused append.
    const goesOn = await append(subject, kind, progress, isThrough ? 1 : appends)
    const label = `${fault.errno} at ${fault.nth} of ${fault.calls.join()}`
    expect(goesOn, `${label}: ${JSON.stringify(progress.reports.at(-1))}`).toBe(true)
    await subject.close()
    const witness = { log: 1, submitted: progress.head, acknowledged: progress.head }
    const verdict = await verify({ location, witnesses: [witness], reports: progress.reports })
    expect(verdict.violations, label).toEqual([])
  } finally {
    disk.heal()
  }
  return disk.hasFailed()
}

const cases: readonly (readonly [string, readonly DiskCall[], DiskFault['errno']])[] = [
  ['D9 ENOSPC on a write', writeCalls, 'ENOSPC'],
  ['D9 ENOSPC on anything', allCalls, 'ENOSPC'],
  ['D10 EIO on a write', writeCalls, 'EIO'],
  ['D11 EIO on a sync', syncCalls, 'EIO'],
]

for (const [name, calls, errno] of cases)
  for (const kind of ['jsonl', 'blobs'] as const)
    it.each([false, true])(`${name}, ${kind}, n = 1, 2, … until none is left; permanent: %s`, async (lasts) => {
      let nth = 1
      while (nth < runsMax && (await failAt(kind, { calls, nth, errno, lasts }))) nth += 1
      expect(nth).toBeGreaterThan(2)
      expect(nth).toBeLessThan(runsMax)
    })

const sqliteCodes = { full: 13, write: 778, sync: 1034 } as const

it.each(Object.entries(sqliteCodes))(
  'D9 to D11 SQLite: refuses a failed commit (%s) and continues with the same store',
  async (_, errcode) => {
    for (let nth = 1; nth <= appends; nth++) {
      const location = scratch.location('inline')
      const path = databaseIn(location.directory)
      const opened: DatabaseSync[] = []
      let commits = 0
      const failing = (file: string) => {
        const database = openForWriting(file)
        opened.push(database)
        const prepare = database.prepare.bind(database)
        database.prepare = (sql) => {
          const statement = prepare(sql)
          if (sql !== 'commit') return statement
          const run = statement.run.bind(statement)
          statement.run = () => {
            commits += 1
            if (commits === nth + 1) throw Object.assign(new Error('disk I/O error'), { errcode })
            return run()
          }
          return statement
        }
        return database
      }
      const subject = openInlineSubject(path, createWriter({ path }, failing))
      if (!subject.ok) throw new Error(subject.fault.message)
      const progress: Progress = { head: 0, submitted: 0, reports: [] }
      await append(subject.value, 'inline', progress, appends)
      expect(progress.reports).toHaveLength(1)
      expect(opened.filter((database) => database.isOpen)).toEqual([]) // never used again
      expect(await append(subject.value, 'inline', progress, 2)).toBe(true)
      await subject.value.close()
      const witness = { log: 1, submitted: progress.head, acknowledged: progress.head }
      const verdict = await verify({ location, witnesses: [witness], reports: progress.reports })
      expect(verdict.violations).toEqual([])
    }
  },
)

it('D9 SQLite: refuses on a full disk, loses nothing and continues once there is space', async () => {
  const location = scratch.location('inline')
  const path = databaseIn(location.directory)
  const progress: Progress = { head: 0, submitted: 0, reports: [] }
  const small = openInlineSubject(path, createWriter({ path, pagesMax: 40 }))
  if (!small.ok) throw new Error(small.fault.message)
  expect(await append(small.value, 'inline', progress, 500)).toBe(false)
  expect(progress.reports.at(-1)?.fault).toMatchObject({ code: 'storage_error', details: { reason: 'disk_full' } })
  const full = progress.head
  expect(await append(small.value, 'inline', progress, 1)).toBe(false)
  expect(progress.head).toBe(full)
  await small.value.close()
  const verdict = await verify({
    location,
    witnesses: [{ log: 1, submitted: progress.head, acknowledged: progress.head }],
    reports: progress.reports,
  })
  expect(verdict.violations).toEqual([])
})
