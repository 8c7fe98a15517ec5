import { type Frame, fault, orThrow, refuse, type SessionHandle } from '@holdfast/protocol'
import {
  aSession,
  aSubagentTool,
  aTool,
  call,
  createGate,
  createVirtualClock,
  isRecord,
  type ScriptedAnswer,
  say,
  type TestRuntime,
  waitAt,
} from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../ports/provider.ts'
import type { Store } from '../../ports/store/store.ts'
import { stillness } from '../../testing/let-waits-pass.ts'
import { createMemoryBlobs, createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from '../api/local-session.ts'
import type { SessionRegistry } from './session-registry.ts'

const write = aTool('write', async (_, __, { begin }) => {
  await begin()
  return { type: 'ok', output: { text: 'written' } }
})

type Answers = Readonly<Record<string, () => ScriptedAnswer>>

const answering = (answers: Answers) => (request: ModelRequest) => {
  const last = JSON.stringify(request.messages.at(-1))
  return Object.entries(answers).find(([words]) => last.includes(words))?.[1]() ?? [say('Fine.')]
}

let draining: Set<string>
let clock: ReturnType<typeof createVirtualClock>

beforeEach(() => {
  draining = new Set()
  clock = createVirtualClock()
})

/** Creates a store that gives no further session to a draining node, as a cluster does. */
function createDrainingStore(): Store {
  const store = createMemoryStore()
  return {
    ...store,
    async claim(session, owner, takeFrom) {
      const isOwn = (await store.entry(session))?.owner === owner
      if (draining.has(owner) && !isOwn) return refuse(fault('workdir_elsewhere', 'This node is about to stop.'))
      return store.claim(session, owner, takeFrom)
    },
  }
}

/** Opens two nodes on one store: `one` has the session. */
async function openTwo(answers: Answers): Promise<{ readonly one: TestRuntime; readonly two: TestRuntime }> {
  const others = new Map<string, SessionRegistry>()
  const shared = {
    store: createDrainingStore(),
    blobs: createMemoryBlobs(),
    clock,
    others,
    living: ['one', 'two'],
    tools: [aSubagentTool(), write],
    script: answering(answers),
  }
  const one = await openMemoryRuntime(shared)
  const two = await openMemoryRuntime({ ...shared, node: 'two', takesOver: true })
  for (const { registry } of [one, two]) {
    await registry.deps.store.registerNode(registry.deps.node)
    others.set(registry.deps.node.id, registry)
  }
  return { one, two }
}

/** Lets time pass until `promise` resolves. */
async function within<Value>(promise: Promise<Value>): Promise<Value> {
  let isOver = false
  const over = promise.finally(() => {
    isOver = true
  })
  for (await stillness(); !isOver; await stillness()) clock.advance(Math.min(clock.nextMs() ?? 0, 100))
  return over
}

/** Drains the first node; `late` ends the wait. */
function drain({ registry }: TestRuntime, late = new AbortController().signal): Promise<void> {
  draining.add(registry.deps.node.id)
  return registry.membership.drain(late)
}

const isWaiting = (frame: Frame) => frame.type === 'child' && frame.view?.status === 'waiting'

const until = async (handle: SessionHandle, type: string) => {
  for await (const frame of handle.subscribe({ after: 0 })) if (isRecord(type)(frame)) return
}

const callsOf = async (handle: SessionHandle) =>
  orThrow(await handle.page()).messages.flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))

const asking: Answers = {
  go: () => [call('subagent', { task: 'please write' })],
  'please write': () => [call('write', { path: 'a' })],
}

describe('a node that drains', () => {
  it('finishes a running turn, and then releases it', async () => {
    const gate = createGate()
    const { one } = await openTwo({ go: () => [waitAt(gate), say('Done.')] })
    await one.send('1', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    const drained = drain(one)
    await stillness()
    clock.advance(1000)
    expect(one.registry.loaded(aSession)).not.toBeNull()
    gate.open()
    await within(drained)
    expect(one.registry.all()).toEqual([])
    expect((await one.store.entry(aSession))?.owner).toBeNull()
    const records = await one.store.read(aSession, { after: 0, limit: 100 })
    expect(records.at(-1)).toMatchObject({ event: { type: 'turn.ended', reason: 'done' } })
  })

  it('releases a turn that waits for a person, who answers at another node', async () => {
    const { one, two } = await openTwo({ go: () => [call('write', {})] })
    await one.send('1', { type: 'sendPrompt', content: 'go' })
    await until(one.handle, 'approval.asked')
    await within(drain(one))
    expect(one.registry.all()).toEqual([])
    expect((await two.send('2', { type: 'respondToApproval', decision: 'approve' })).ok).toBe(true)
    await until(two.handle, 'turn.ended')
    expect(await callsOf(two.handle)).toMatchObject([{ status: 'complete', result: { text: 'written' } }])
  })

  it('hands a session over with its subagent that waits for a person', async () => {
    const { one, two } = await openTwo(asking)
    await one.send('1', { type: 'sendPrompt', content: 'go' })
    await one.frame(isWaiting)
    await within(drain(one))
    expect(one.registry.all()).toEqual([])
    expect(await one.events()).not.toContain('call.settled')
    expect((await within(two.send('2', { type: 'respondToApproval', decision: 'approve' }))).ok).toBe(true)
    await until(two.handle, 'turn.ended')
    expect(await callsOf(two.handle)).toMatchObject([{ status: 'complete', child: { outcome: 'completed' } }])
  })

  it('keeps a subagent that waits for a person while another call of its parent runs', async () => {
    const gate = createGate()
    const { one } = await openTwo({
      ...asking,
      go: () => [call('subagent', { task: 'please write' }), call('subagent', { task: 'take long' })],
      'take long': () => [waitAt(gate), say('Done.')],
    })
    await one.send('1', { type: 'sendPrompt', content: 'go' })
    await one.frame(isWaiting)
    await gate.reached
    const drained = drain(one)
    for (let looks = 0; looks < 5; looks++) {
      await stillness()
      clock.advance(100)
    }
    expect(one.registry.all()).toHaveLength(3)
    expect((await one.send('2', { type: 'respondToApproval', decision: 'approve' })).ok).toBe(true)
    gate.open()
    await within(drained)
    const outcomes = (await callsOf(one.handle)).map(({ child }) => child?.outcome)
    expect(outcomes).toEqual(['completed', 'completed'])
  })

  it('starts the subagents that a running turn asks for', async () => {
    const gate = createGate()
    const { one } = await openTwo({ go: () => [waitAt(gate), call('subagent', { task: 'look' })] })
    await one.send('1', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    const drained = drain(one)
    gate.open()
    await within(drained)
    expect(await callsOf(one.handle)).toMatchObject([{ status: 'complete', child: { outcome: 'completed' } }])
  })
})

describe('a subagent at another node than its parent', () => {
  /** Leaves the session to `two`, and its subagent, which waits for a person, to `one`. */
  async function separate(answers: Answers) {
    const { one, two } = await openTwo(answers)
    await one.send('1', { type: 'sendPrompt', content: 'go' })
    await one.frame(isWaiting)
    const [child] = orThrow(await one.handle.subagents())
    if (!child) throw new Error('no subagent')
    await one.registry.unload(aSession)
    return { one, two, child: child.id }
  }

  it('is waited for until its work has ended there', async () => {
    const gate = createGate()
    const { one, two, child } = await separate({ ...asking, written: () => [waitAt(gate), say('Found it.')] })
    // The answer comes to the subagent before its parent is loaded anywhere.
    orThrow(await one.store.claim(aSession, 'two', null))
    const asked = await createLocalSession(one.registry, child).submit({
      type: 'respondToApproval',
      decision: 'approve',
    })
    expect(asked.ok).toBe(true)
    await gate.reached
    orThrow(await two.registry.load(aSession))
    for (let looks = 0; looks < 20; looks++) {
      await stillness()
      clock.advance(500)
    }
    expect(await one.events()).not.toContain('call.settled')
    gate.open()
    await within(until(two.handle, 'turn.ended'))
    const [{ child: end } = { child: undefined }] = await callsOf(two.handle)
    expect(end?.outcome).toBe('completed')
  })

  it('is handed to the node of its parent while it waits for a person', async () => {
    const { one, two, child } = await separate(asking)
    orThrow(await one.store.claim(aSession, 'two', null))
    orThrow(await one.registry.load(child))
    await expect.poll(() => one.registry.all()).toEqual([])
    expect((await within(two.send('2', { type: 'respondToApproval', decision: 'approve' }))).ok).toBe(true)
    await within(until(two.handle, 'turn.ended'))
    expect(one.registry.all()).toEqual([])
  })
})

it('tells those who watch a session that its node lost the database, and only who sent a command to send it again', async () => {
  const { one } = await openTwo({})
  one.registry.membership.suspend()
  const { here } = orThrow(await one.handle.state(['here']))
  const sentence = 'This node has lost the database, so the work of the session was stopped.'
  expect(here?.storageError).toEqual({ reason: 'unreachable', message: sentence })
  expect(await one.send('1', { type: 'rename', title: 'A' })).toMatchObject({
    ok: false,
    fault: {
      message: expect.stringMatching(
        /^This node has lost the database and [^.]*\. Your command was not accepted\. Send it again/,
      ),
      details: { isCommandRefused: true, retryAfterSeconds: 1 },
    },
  })
})
