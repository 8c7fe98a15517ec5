import { type Frame, orThrow, type SessionHandle } from '@holdfast/protocol'
import {
  aSession,
  aSubagentTool,
  aTool,
  call,
  createGate,
  type ScriptedAnswer,
  say,
  type TestRuntime,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../ports/provider.ts'
import { createMemoryBlobs, createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'

const write = aTool('write', async (_, __, { begin }) => {
  await begin()
  return { type: 'ok', output: { text: 'written' }, files: [{ path: 'a', change: 'deleted' }] }
})

type Answers = Readonly<Record<string, () => ScriptedAnswer>>

const answering = (answers: Answers) => (request: ModelRequest) => {
  const last = JSON.stringify(request.messages.at(-1))
  return Object.entries(answers).find(([words]) => last.includes(words))?.[1]() ?? [say('Fine.')]
}

/** Opens a runtime, and another one later that takes over from it as after a crash. */
async function openTwice(answers: Answers) {
  const shared = { store: createMemoryStore(), blobs: createMemoryBlobs() }
  const tools = [aSubagentTool(), write]
  const first = await openMemoryRuntime({ ...shared, tools, script: answering(answers) })
  await shared.store.registerNode({ id: 'one', address: '', startedAt: '' })
  const restart = async (): Promise<TestRuntime> => {
    const second = await openMemoryRuntime({
      ...shared,
      tools,
      script: answering(answers),
      node: 'two',
      living: ['two'],
      takesOver: true,
    })
    await second.registry.settleCrashed()
    return second
  }
  return { first, restart }
}

async function until(handle: SessionHandle, fits: (frame: Frame) => boolean): Promise<void> {
  for await (const frame of handle.subscribe({ after: 0 })) if (fits(frame)) return
}

const isEvent = (type: string) => (frame: Frame) => frame.type === 'record' && frame.record.event.type === type
const isWaiting = (frame: Frame) => frame.type === 'child' && frame.view?.status === 'waiting'

const asking: Answers = {
  go: () => [call('subagent', { task: 'please write' })],
  'please write': () => [call('write', { path: 'a' })],
}

describe('after a crash', () => {
  it('a call whose subagent waits for an approval stays open, and goes on with the answer', async () => {
    const { first, restart } = await openTwice(asking)
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isWaiting)
    const second = await restart()
    await until(second.handle, isWaiting)
    expect(orThrow(await second.handle.state(['activity'])).activity).toBe('tool_executing')
    expect(orThrow(await second.handle.state(['meta'])).meta.waiting).toBe(1)
    expect((await second.send('2', { type: 'respondToApproval', decision: 'approve' })).ok).toBe(true)
    await until(second.handle, isEvent('turn.ended'))
    const { messages } = orThrow(await second.handle.page())
    const [done] = messages.flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))
    expect(done).toMatchObject({ status: 'complete', result: { text: 'Fine.' }, child: { outcome: 'completed' } })
    expect((await second.events()).filter((type) => type === 'child.started')).toHaveLength(1)
  })

  it('a subagent that worked is interrupted, and its call settles with its last words', async () => {
    const { first, restart } = await openTwice({
      go: () => [call('subagent', { task: 'look' })],
      look: () => [say('I begin.'), call('write', {})],
      written: () => [waitAt(createGate())],
    })
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isWaiting)
    await first.send('2', { type: 'respondToApproval', decision: 'approve' })
    await until(first.handle, (frame) => frame.type === 'child' && frame.view?.usage.output === 10)
    const second = await restart()
    const { lastTurn, queue } = orThrow(await second.handle.state(['lastTurn', 'queue']))
    expect(lastTurn?.reason).toBe('interrupted')
    expect(queue).toEqual([])
    const [child] = orThrow(await second.handle.subagents())
    expect(child?.status).toBe('interrupted')
    const { messages } = orThrow(await second.handle.page())
    const [cut] = messages.flatMap((message) => (message.kind === 'tool_call' ? [message.call] : []))
    expect(cut).toMatchObject({ status: 'interrupted', child: { outcome: 'interrupted' } })
    expect(cut?.result?.text).toContain('I begin.')
    expect(orThrow(await second.handle.fileChanges()).changes).toMatchObject([{ path: 'a', child: child?.id }])
    expect(second.model.requests).toEqual([])
  })

  it('results that were not delivered wait as follow-ups until the next prompt or continue', async () => {
    const { first, restart } = await openTwice({
      go: () => [call('subagent', { task: 'look', background: true })],
      look: () => [say('I begin.'), waitAt(createGate())],
    })
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isEvent('turn.ended'))
    const second = await restart()
    const { queue, activity } = orThrow(await second.handle.state(['queue', 'activity']))
    expect(activity).toBe('idle')
    expect(queue).toMatchObject([{ queue: 'follow_up', child: { status: 'interrupted' } }])
    expect(second.model.requests).toEqual([])
    expect((await second.send('2', { type: 'continue' })).ok).toBe(true)
    await until(
      second.handle,
      (frame) =>
        frame.type === 'record' && frame.record.event.type === 'user.said' && frame.record.event.child !== undefined,
    )
    expect(orThrow(await second.handle.state(['queue'])).queue).toEqual([])
  })

  it('a start without a session is told as interrupted, and starts none', async () => {
    const { first, restart } = await openTwice(asking)
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isWaiting)
    const [child] = orThrow(await first.handle.subagents())
    await first.registry.unload(aSession)
    if (child) await first.store.purge(child.id)
    const second = await restart()
    const { lastTurn } = orThrow(await second.handle.state(['lastTurn']))
    await second.registry.load(aSession)
    expect(orThrow(await second.handle.state(['lastTurn'])).lastTurn?.reason).toBe('interrupted')
    expect(lastTurn === null || lastTurn.reason === 'interrupted').toBe(true)
    expect((await second.events()).filter((type) => type === 'child.started')).toHaveLength(1)
  })
})

describe('a stop of the session', () => {
  it('keeps the question of its subagent and the call open, and ends the subagent here', async () => {
    const { first } = await openTwice(asking)
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isWaiting)
    await first.registry.unload(aSession)
    expect(first.registry.all()).toEqual([])
    expect(await first.events()).not.toContain('turn.ended')
    await until(first.handle, isWaiting)
    expect((await first.send('2', { type: 'respondToApproval', decision: 'reject' })).ok).toBe(true)
    await until(first.handle, isEvent('turn.ended'))
  })

  it('ends subagents in the background, and their results wait', async () => {
    const { first } = await openTwice({
      go: () => [call('subagent', { task: 'look', background: true })],
      look: () => [say('I begin.'), waitAt(createGate())],
    })
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isEvent('turn.ended'))
    await first.registry.unload(aSession)
    expect(first.registry.all()).toEqual([])
    expect(orThrow(await first.handle.state(['queue'])).queue).toMatchObject([{ child: { status: 'interrupted' } }])
  })
})

describe('a deleted session', () => {
  it('takes its subagents to the trash, and brings them back', async () => {
    const { first } = await openTwice({ go: () => [call('subagent', { task: 'look' })] })
    await first.send('1', { type: 'sendPrompt', content: 'go' })
    await until(first.handle, isEvent('turn.ended'))
    const [child] = orThrow(await first.handle.subagents())
    const { createLocalSessions } = await import('../api/local-sessions.ts')
    const sessions = createLocalSessions(first.registry)
    orThrow(await sessions.delete(aSession))
    expect(child && (await first.store.entry(child.id))?.trashedAt).not.toBeNull()
    orThrow(await sessions.restore(aSession))
    expect(child && (await first.store.entry(child.id))?.trashedAt).toBeNull()
  })
})
