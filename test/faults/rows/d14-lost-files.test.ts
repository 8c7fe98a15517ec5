import {
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { mustOpen } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { readWitnesses } from '../read-witnesses.ts'
import { useScratch } from '../scratch.ts'
import { databaseIn, type SubjectLocation } from '../subject/subject.ts'
import { batchAfter, sessionOf } from '../workload.ts'
import { startWriter, type WriterProcess } from '../writer-process.ts'

const scratch = useScratch({ inMemory: true })

/** Does harm to the files of a running writer, waits for its refusal, and kills it. */
async function harm(
  location: SubjectLocation,
  operation: () => void,
  after: (writer: WriterProcess) => Promise<void> = async () => undefined,
) {
  const writer = startWriter({ location, logs: 2, triesMax: 5 })
  await writer.acknowledged(20)
  operation()
  await writer.refused()
  await after(writer)
  writer.process.kill('SIGKILL')
  await writer.ended()
  return writer
}

async function expectNothingMissing(writer: WriterProcess, location: SubjectLocation): Promise<void> {
  expect(writer.acknowledgedCount()).toBeGreaterThanOrEqual(20)
  const witnesses = await readWitnesses(writer, location)
  const verdict = await verify({ location, witnesses, reports: writer.reports() })
  expect(verdict.violations).toEqual([])
  expect(verdict.checked).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6, 10]))
}

const logs: readonly (readonly [what: string, reason: string, (log: string) => void])[] = [
  ['removed', 'log_removed', (log) => rmSync(log)],
  [
    'moved away and replaced by an empty file',
    'log_removed',
    (log) => {
      renameSync(log, `${log}.away`)
      writeFileSync(log, '')
    },
  ],
  ['emptied', 'log_truncated', (log) => truncateSync(log, 0)],
  ['cut in half', 'log_truncated', (log) => truncateSync(log, Math.floor(statSync(log).size / 2))],
  ['overwritten with zeros', 'log_truncated', (log) => writeFileSync(log, Buffer.alloc(statSync(log).size))],
  [
    'removed with its index',
    'log_removed',
    (log) => {
      rmSync(log)
      rmSync(log.replace(/-wal$/, '-shm'))
    },
  ],
]

it.each(logs)(
  'D14: a write-ahead log that is %s is noticed, and nothing acknowledged is lost',
  async (_, reason, change) => {
    const [location, left] = [scratch.location('inline'), scratch.location('inline')]
    const path = databaseIn(location.directory)
    const subject = await mustOpen(location)
    let head = 0
    const append = async () => {
      const answer = await subject.submit(1, head)
      if (answer.ok) head += batchAfter(head)
      return answer
    }
    for (let number = 0; number < 20; number++) expect(await append()).toMatchObject({ ok: true })
    change(`${path}-wal`)
    // An append during which it is noticed is saved with the rest and acknowledged; then the next one is refused.
    const first = await append()
    const refused = first.ok ? await append() : first
    const fault = refused.ok ? null : refused.fault
    expect(fault).toMatchObject({ code: 'storage_error', details: { reason, saved: path, path } })
    expect(await subject.head(1)).toBe(head)
    expect((await subject.read(1, head)).length).toBe(head)
    for (let number = 0; number < 20; number++) expect(await append()).toMatchObject({ ok: true })
    cpSync(location.directory, left.directory, { recursive: true }) // what a killed process would leave
    await subject.close()
    const reports = fault === null ? [] : [{ fault, afterMs: 0 }]
    const verdict = await verify({
      location: left,
      witnesses: [{ log: 1, submitted: head, acknowledged: head }],
      reports,
    })
    expect(verdict.violations).toEqual([])
    expect(verdict.checked).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 6, 10]))
  },
)

it('D14: a write-ahead log with overwritten bytes is noticed soon after a commit, and nothing acknowledged is lost', async () => {
  const [location, left] = [scratch.location('sqlite'), scratch.location('inline')]
  const path = databaseIn(location.directory)
  const subject = await mustOpen(location)
  let head = 0
  const append = async () => {
    const answer = await subject.submit(1, head)
    if (answer.ok) head += batchAfter(head)
    return answer
  }
  for (let number = 0; number < 20; number++) expect(await append()).toMatchObject({ ok: true })
  overwriteMiddle(`${path}-wal`)
  for (let number = 0; number < 3; number++) expect(await append()).toMatchObject({ ok: true })
  // The log is verified in the background, and the store is written anew.
  await expect.poll(() => existsSync(`${path}.quarantine`), { timeout: 20_000 }).toBe(true)
  const reported = await append()
  expect(reported).toMatchObject({ ok: false, fault: { code: 'storage_error', details: { reason: 'log_truncated' } } })
  expect(await subject.head(1)).toBe(head)
  for (let number = 0; number < 20; number++) expect(await append()).toMatchObject({ ok: true })
  cpSync(location.directory, left.directory, { recursive: true }) // what a killed process would leave
  await subject.close()
  const reports = reported.ok ? [] : [{ fault: reported.fault, afterMs: 0 }]
  const witnesses = [{ log: 1, submitted: head, acknowledged: head }]
  const verdict = await verify({ location: left, witnesses, reports })
  expect(verdict.violations).toEqual([])
})

/** Overwrites 100 bytes, which leaves the length as it is. */
function overwriteMiddle(path: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.alloc(100, 7), 0, 100, Math.floor(fstatSync(file).size / 2))
  closeSync(file)
}

it('D14: a killed process whose write-ahead log was removed lost nothing that it acknowledged', async () => {
  const location = scratch.location('sqlite')
  const path = databaseIn(location.directory)
  const writer = await harm(
    location,
    () => rmSync(`${path}-wal`),
    // It goes on: the records were saved to the file.
    (running) => running.acknowledged(running.acknowledgedCount() + 20),
  )
  await expectNothingMissing(writer, location)
})

it('D14: a process that the system kills because the index of its write-ahead log was cut loses nothing that it acknowledged', async () => {
  const location = scratch.location('sqlite')
  const path = databaseIn(location.directory)
  const writer = startWriter({ location, logs: 2, triesMax: 5 })
  await writer.acknowledged(20)
  truncateSync(`${path}-shm`, 0)
  expect(await writer.ended()).toMatchObject({ signal: 'SIGBUS' })
  expect(writer.acknowledgedCount()).toBeGreaterThanOrEqual(20)
  const verdict = await verify({ location, witnesses: await readWitnesses(writer, location) }) // without a repair
  expect(verdict.violations).toEqual([])
})

function replace(file: string): void {
  rmSync(file)
  writeFileSync(file, 'something else')
}

it.each([
  ['sqlite', 'removed'],
  ['jsonl', 'replaced'],
] as const)('D14 %s: the records of a file that is %s are saved beside it', async (kind, what) => {
  const change = what === 'removed' ? (file: string) => rmSync(file) : replace
  const location = scratch.location(kind)
  const path = kind === 'sqlite' ? databaseIn(location.directory) : join(location.directory, `${sessionOf(1)}.jsonl`)
  const writer = await harm(location, () => change(path))
  const saved = `${path}.recovered-1`
  expect(writer.reports()[0]?.fault).toMatchObject({
    code: 'storage_error',
    details: { reason: 'replaced', saved, path },
  })
  for (const left of [path, `${path}-wal`, `${path}-shm`]) rmSync(left, { force: true })
  renameSync(saved, path)
  expect(readdirSync(location.directory).filter((name) => name.includes('.new-'))).toEqual([])
  await expectNothingMissing(writer, location)
})
