import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { Session } from '@holdfast/client'
import { type Frame, orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Holdfast } from '../holdfast.ts'
import { openHoldfast } from '../open.ts'

const fixture = fileURLToPath(new URL('./owner-process.fixture.ts', import.meta.url))

let home = ''
let owner: ChildProcess
let lines: AsyncIterator<string>
let printed: string[] = []
let here: Holdfast
let session: Session

/** Returns the first line of the owner, past or future, that begins with a word. */
async function line(word: string): Promise<string> {
  for (;;) {
    const found = printed.find((one) => one.startsWith(word))
    if (found !== undefined) return found.slice(word.length + 1)
    const next = await lines.next()
    if (next.done) throw new Error(`the owner ended without ${word}`)
    printed.push(next.value)
  }
}

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'holdfast-nodes-')))
  owner = spawn(process.execPath, [fixture, home, process.env['PATH'] ?? ''], { stdio: ['ignore', 'pipe', 'inherit'] })
  printed = []
  if (owner.stdout === null) throw new Error('stdout is a pipe')
  lines = createInterface({ input: owner.stdout })[Symbol.asyncIterator]()
  const environment = { HOLDFAST_HOME: home, DEMO_PACE: '0', PATH: process.env['PATH'] }
  const id = await line('session')
  here = await openHoldfast({ environment, model: 'demo/agent' })
  session = await here.getSession(id)
})
afterEach(async () => {
  owner.kill('SIGKILL')
  await here.close()
  await rm(home, { recursive: true, force: true })
})

/** Follows the session until `enough` says so, and returns the frames. `onFrame` may act on each. */
async function follow(enough: (frame: Frame) => boolean, onFrame: (frame: Frame) => void): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  const handle = orThrow(await here.handles.open(session.id))
  for await (const frame of handle.subscribe({ client: 'ben', mayDrive: true })) {
    frames.push(frame)
    if (enough(frame)) break
    onFrame(frame)
  }
  return frames
}

const turnEnded = (frame: Frame) => frame.type === 'record' && frame.record.event.type === 'turn.ended'
const denseSeqs = (frames: readonly Frame[]) => {
  const seqs = frames.flatMap((frame) => (frame.type === 'record' ? [frame.record.seq] : []))
  const [snapshot] = frames.flatMap((frame) => (frame.type === 'snapshot' ? [frame.seq] : []))
  expect(seqs).toEqual(seqs.map((_, index) => (snapshot ?? 0) + 1 + index))
}

it('a killed owner is replaced by the process that follows the session, without a gap', async () => {
  let hasDied = false
  const frames = await follow(turnEnded, (frame) => {
    if (frame.type !== 'delta' || hasDied) return
    hasDied = true
    owner.kill('SIGKILL')
  })
  denseSeqs(frames)
  expect(frames.filter(({ type }) => type === 'snapshot')).toHaveLength(1)
  expect(frames.at(-1)).toMatchObject({ record: { event: { type: 'turn.ended', reason: 'interrupted' } } })
  expect(here.listSessions().map(({ session: { id } }) => id)).toEqual([session.id])
  expect((await here.list()).sessions[0]).toMatchObject({ id: session.id, status: 'idle' })
})

it('a command in flight is answered by its id when the owner dies', async () => {
  const renamed = session.rename('In flight', { commandId: 'c1' })
  owner.kill('SIGKILL')
  const answer = await renamed
  expect(await session.rename('In flight', { commandId: 'c1' })).toEqual(answer)
  expect((await session.metadata()).title).toBe('In flight')
})

/** Stops the owner between two commits: one that is stopped in a commit keeps the lock of the file, and nobody can write. */
async function stopOwner(): Promise<void> {
  using database = new DatabaseSync(join(home, 'data', 'holdfast.db'), { timeout: 0 })
  for (;;) {
    owner.kill('SIGSTOP')
    try {
      database.exec('begin immediate; rollback')
      return
    } catch {
      owner.kill('SIGCONT')
      await new Promise(setImmediate)
    }
  }
}

it('a stopped owner counts as dead; when it wakes it is fenced, says so, and follows the new owner', async () => {
  await stopOwner()
  await session.rename('By the new owner')
  expect(here.listSessions()).toHaveLength(1)
  owner.kill('SIGCONT')
  expect(await line('stopped')).toBe('taken_over')
  await line('renamed') // its command went to the new owner
  expect((await session.metadata()).title).toBe('By the old owner')
  expect(await line('title By the old')).toBe('owner') // its stream goes on there
})
