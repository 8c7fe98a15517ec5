import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Frame,
  orThrow,
  type Recorded,
  type SessionHandle,
  SessionId,
  type StartOptions,
} from '@holdfast/protocol'
import { createDice } from '@holdfast/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openReadOnlyStore } from '../../packages/holdfast/src/store/open/open-read-only.ts'
import { diskLocationAt } from '../../packages/holdfast/src/store/open/store-location.ts'
import { type ServerProcess, startServerProcess } from './server-process.ts'

const stores = ['sqlite', 'jsonl'] as const
/** For both stores together; most of a cycle is the start of a process. `npm run test:faults -- D20` runs many more. */
const cyclesAll = Number(process.env['KILL_CYCLES'] ?? 8)
const cycles = Math.ceil(cyclesAll / stores.length)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const prompts = [
  'count to 40',
  'list',
  'write note.txt: one more line',
  'list\nread note.txt',
  'run echo holdfast; cat note.txt',
  'fail cut',
  'what can you do?',
]

/** What a client saw of a session before the kill. */
class Witness {
  readonly seen = new Map<number, Recorded>()
  acknowledged = 0
  private readonly following = new AbortController()

  readonly id: SessionId

  constructor(id: SessionId) {
    this.id = id
  }

  /** Follows until aborted; `enough` gets the number of frames so far, deltas included. */
  async follow(handle: SessionHandle, enough: (frames: number) => void): Promise<void> {
    const after = Math.max(0, ...this.seen.keys())
    let frames = 0
    try {
      for await (const frame of handle.subscribe({ after, signal: this.following.signal })) {
        if (frame.type === 'record') this.seen.set(frame.record.seq, frame.record)
        enough(++frames)
      }
    } catch {
      // The server was killed.
    }
  }

  leave(): void {
    this.following.abort()
  }
}

async function replayOf(handle: SessionHandle, upTo: number): Promise<readonly Recorded[]> {
  const records: Recorded[] = []
  for await (const frame of handle.subscribe({ after: 0 })) {
    if (frame.type === 'record') records.push(frame.record)
    if (records.length >= upTo) break
  }
  return records
}

describe.each(stores)(`kill -9 of a running server on %s, ${cycles} times (SEED=${seed})`, (kind) => {
  let home = ''
  let workdir = ''
  const dice = createDice(seed)

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'holdfast-kill-'))
    workdir = await mkdtemp(join(tmpdir(), 'holdfast-work-'))
  })
  afterAll(async () => {
    await rm(home, { recursive: true, force: true })
    await rm(workdir, { recursive: true, force: true })
  })

  const start = (pace = '0'): Promise<ServerProcess> => {
    const args = kind === 'jsonl' ? ['--store', `jsonl:${join(home, 'logs')}`] : []
    return startServerProcess({ home, args, env: { DEMO_PACE: pace } })
  }

  /** Sends prompts and approvals until a random stop, at any point of a turn. */
  async function live(server: ServerProcess, witness: Witness): Promise<void> {
    const opened = await server.sessions.open(witness.id)
    if (!opened.ok) throw new Error(opened.fault.message)
    const handle = opened.value
    const until = 1 + dice.below(60)
    const reached = Promise.withResolvers<void>()
    const following = witness.follow(handle, (frames) => frames >= until && reached.resolve())
    const answer = await handle.submit({ type: 'sendPrompt', content: dice.pick(prompts) ?? 'list' })
    if (answer.ok) witness.acknowledged = Math.max(witness.acknowledged, answer.value.seq)
    // Most approvals are answered.
    const approving = approve(handle, witness)
    await Promise.race([reached.promise, approving.then(() => reached.promise), settled(handle)])
    await server.kill()
    witness.leave()
    await following // not the pending command, which retries on the killed server
  }

  async function approve(handle: SessionHandle, witness: Witness): Promise<void> {
    const snapshot = await handle.snapshot()
    if (!snapshot.ok || dice.below(4) === 0) return
    for (const { id } of snapshot.value.view.pendingApprovals) {
      const answer = await handle.submit({ type: 'respondToApproval', decision: 'approve', approval: id })
      if (answer.ok) witness.acknowledged = Math.max(witness.acknowledged, answer.value.seq)
    }
  }

  /** Waits until the session is idle or waits for an approval, so that no more records come. */
  async function settled(handle: SessionHandle): Promise<void> {
    const isQuiet = (frame: Frame) =>
      frame.type === 'record' &&
      (frame.record.event.type === 'turn.ended' || frame.record.event.type === 'approval.asked')
    for await (const frame of handle.subscribe()) {
      if (isQuiet(frame)) return
      if (frame.type !== 'snapshot') continue
      const { activity, pendingApprovals } = frame.view
      if (activity === 'idle' || activity === 'error' || pendingApprovals.length > 0) return // it had already ended
    }
  }

  it('loses nothing acknowledged or shown, and leaves no session running', async () => {
    let server = await start()
    const options: StartOptions = { workdir }
    const started = await server.sessions.start(options)
    if (!started.ok) throw new Error(started.fault.message)
    const witness = new Witness(SessionId.parse(started.value.id))

    for (let cycle = 0; cycle < cycles; cycle++) {
      await live(server, witness)
      server = await start(dice.pick(['0', '0.02', '0.1']))
      const reopened = await server.sessions.open(witness.id)
      if (!reopened.ok) throw new Error(`cycle ${cycle}: ${reopened.fault.message}`)
      const handle = reopened.value
      const snapshot = await handle.snapshot()
      if (!snapshot.ok) throw new Error(`cycle ${cycle}: ${snapshot.fault.message}`)
      const { seq, view } = snapshot.value

      expect(seq, `cycle ${cycle}: what was acknowledged is there`).toBeGreaterThanOrEqual(witness.acknowledged)
      const records = await replayOf(handle, seq)
      expect(
        records.map((record) => record.seq),
        `cycle ${cycle}: seq is dense`,
      ).toEqual(records.map((_, index) => index + 1))
      for (const [at, shown] of witness.seen)
        expect(records[at - 1], `cycle ${cycle}: record ${at} is as it was shown`).toEqual(shown)
      for (const record of records) witness.seen.set(record.seq, record)
      if (view.pendingApprovals.length === 0)
        expect(view.activity, `cycle ${cycle}: nothing runs by itself`).toMatch(/idle|error/)
      expect(openCalls(records).length, `cycle ${cycle}: only questions stay open`).toBe(view.pendingApprovals.length)
      const page = await handle.page({ limit: 500 })
      expect(
        page.ok && page.value.messages.every((message) => !('text' in message) || typeof message.text === 'string'),
      ).toBe(true)
    }
    expect(await server.stop()).toBe(0)
    expect(witness.seen.size).toBeGreaterThan(cycles)
  })

  /** Returns the text of a running answer that is already on disk. */
  async function savedDraft(id: SessionId): Promise<string> {
    const path = kind === 'jsonl' ? join(home, 'logs') : join(home, 'data', 'holdfast.db')
    const store = orThrow(await openReadOnlyStore(diskLocationAt(kind, path)))
    const draft = await store?.loadDraft(id)
    await store?.close()
    return draft?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
  }

  it('keeps the saved draft of a streaming answer', async () => {
    let server = await start('1')
    const started = await server.sessions.start({ workdir })
    if (!started.ok) throw new Error(started.fault.message)
    const { id } = started.value
    await started.value.submit({ type: 'sendPrompt', content: 'count to 5000' })
    let streamed = ''
    let draft = ''
    for await (const frame of started.value.subscribe({ after: 0 })) {
      if (frame.type !== 'delta' || frame.kind !== 'text') continue
      streamed += frame.text
      if (draft === '') draft = await savedDraft(id)
      if (draft !== '' && streamed.length >= draft.length) break
    }
    await server.kill()
    server = await start()
    const reopened = await server.sessions.open(id)
    const page = reopened.ok ? await reopened.value.page() : reopened
    if (!page.ok) throw new Error(page.fault.message)
    const answers = page.value.messages.flatMap((message) => (message.kind === 'assistant' ? [message] : []))
    expect(answers.map(({ interrupted }) => interrupted)).toEqual([true])
    expect(streamed.startsWith(draft)).toBe(true)
    expect(answers[0]?.text.startsWith(draft)).toBe(true)
    await server.stop()
  })
})

function openCalls(records: readonly Recorded[]): readonly number[] {
  const open = new Set<number>()
  for (const { seq, event } of records) {
    if (event.type === 'call.requested') open.add(seq)
    if (event.type === 'call.settled') open.delete(event.call)
  }
  return [...open]
}
