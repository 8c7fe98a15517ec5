import { mkdirSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, expect, it } from 'vitest'
import { openSubject } from '../open-subject.ts'
import { verify } from '../pass-criterion.ts'
import { standStill } from '../power-cut.ts'
import { useScratch } from '../scratch.ts'
import { openStore } from '../subject/store.ts'
import { databaseIn } from '../subject/subject.ts'
import { sessionOf, writerNode } from '../workload.ts'
import { startWriter, type WriterProcess } from '../writer-process.ts'

const scratch = useScratch({ inMemory: true })
const sqliteBusy = 5
const started: WriterProcess[] = []
afterEach(() => {
  for (const { process: child } of started.splice(0)) child.kill('SIGKILL')
})
function begin(...given: Parameters<typeof startWriter>): WriterProcess {
  const writer = startWriter(...given)
  started.push(writer)
  return writer
}

it('D16 JSONL: refuses a second process with the name of the first, even a stopped one, until the first is dead', async () => {
  const location = scratch.location('jsonl')
  const first = begin({ location, logs: 2 })
  await first.acknowledged(5)
  const refused = await openSubject(location)
  expect(refused).toMatchObject({ ok: false, fault: { code: 'session_locked', details: { pid: first.process.pid } } })
  await standStill(first.process)
  const second = begin({ location, logs: 2 })
  await second.ended()
  expect(second.reports().map(({ fault }) => fault.code)).toEqual(['session_locked'])
  first.process.kill('SIGKILL')
  await first.ended()
  const third = await openSubject(location)
  expect(third).toMatchObject({ ok: true })
  if (third.ok) await third.value.close()
  const verdict = await verify({ location, witnesses: first.witnesses(), reports: second.reports() })
  expect(verdict.violations).toEqual([])
})

/** A process that is stopped during a commit keeps its lock, so no takeover is possible before it continues. */
async function stopBetweenCommits(writer: WriterProcess, path: string): Promise<void> {
  for (;;) {
    await standStill(writer.process)
    if (isUnlocked(path)) return
    writer.process.kill('SIGCONT')
    await writer.acknowledged(writer.acknowledgedCount() + 1)
  }
}

function isUnlocked(path: string): boolean {
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    database.exec('begin immediate; rollback')
    return true
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) return false
    throw error
  } finally {
    database.close()
  }
}

it('D16 SQLite: refuses appends of a stopped owner after a takeover', async () => {
  const location = scratch.location('sqlite')
  mkdirSync(location.directory)
  const first = begin({ location, logs: 1 })
  await first.acknowledged(5)
  await stopBetweenCommits(first, databaseIn(location.directory))

  const opened = await openStore('sqlite', location.directory)
  if (!opened.ok) throw new Error(opened.fault.message)
  const store = opened.value
  expect(await store.claim(sessionOf(1), 'another', null)).toMatchObject({
    ok: false,
    fault: { code: 'session_locked' },
  })
  const claimed = await store.claim(sessionOf(1), 'another', writerNode)
  if (!claimed.ok) throw new Error(claimed.fault.message)
  first.process.kill('SIGCONT')
  await first.ended()
  expect(first.reports().map(({ fault }) => fault.code)).toEqual(['fenced'])
  expect((await store.entry(sessionOf(1)))?.head).toBe(claimed.value.head)
  await store.release(sessionOf(1), 'another', claimed.value.epoch)
  await store.close()
  const verdict = await verify({ location, witnesses: first.witnesses() })
  expect(verdict.violations).toEqual([])
})
