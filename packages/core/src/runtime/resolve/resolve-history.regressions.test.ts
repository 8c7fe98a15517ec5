import { orThrow, SessionId } from '@holdfast/protocol'
import { aSession, aTool, call, createGate, createVirtualClock, say, type TestRuntime, waitAt } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { type Talk, talkTo } from '../../testing/talk.ts'
import { createLocalSession } from '../api/local-session.ts'
import { completeText } from '../effects/write-text.ts'

// Bugs that the model-based simulation found; see test/simulation/stories.ts.

let runtime: TestRuntime
let talk: Talk
beforeEach(async () => {
  runtime = await openMemoryRuntime({ script: (_, index) => [say(`answer ${index}`)] })
  talk = talkTo(runtime.handle)
  for (const text of ['one', 'two']) await talk.ask(text)
})
const countsOf = async (handle = runtime.handle) => orThrow(await handle.snapshot()).meta.messageCount

describe('a session that has moved', () => {
  it('pins the last answer of its current line when the plan is kept', async () => {
    await talk.send({ type: 'branchAt', turn: 0 })
    await talk.send({ type: 'enterExec', keepPlan: true })
    const { messages } = orThrow(await runtime.handle.page())
    expect(messages.filter(({ pinned }) => pinned)).toMatchObject([{ kind: 'assistant', text: 'answer 0' }])
  })

  it('is decided on its current line, not on the line it had when facts were gathered', async () => {
    const seeded = [{ role: 'user', content: 'a' } as const, { role: 'assistant', content: 'b' } as const]
    await Promise.all([
      talk.send({ type: 'setHistory', messages: seeded }),
      talk.send({ type: 'truncateHistory', keepLast: 1 }),
    ])
    expect(await talk.words()).toEqual(['b'])
    expect(await countsOf()).toBe(1)
  })
})

describe('a line whose beginning is hidden', () => {
  it('is counted without its hidden part after a fork or a rewind', async () => {
    await talk.ask('three')
    await talk.send({ type: 'truncateHistory', keepLast: 3 })
    const { session } = await talk.send({ type: 'fork' })
    expect(await countsOf(createLocalSession(runtime.registry, SessionId.parse(session)))).toBe(3)
    await talk.send({ type: 'branchAt', turn: 1 })
    expect(await countsOf()).toBe(1)
  })
})

it('refuses a fork with the command id of another command', async () => {
  await runtime.send('cmd-1', { type: 'addSystemMessage', text: 'a note' })
  const refused = await runtime.send('cmd-1', { type: 'fork' })
  expect(refused).toMatchObject({ ok: false, fault: { code: 'command_id_reused' } })
})

describe('collapsing all calls', () => {
  it('depends on what is shown: no call is collapsed once each was expanded', async () => {
    const script = [[call('touch', {})], [say('done')]]
    runtime = await openMemoryRuntime({
      script,
      tools: [aTool('touch', async () => ({ type: 'ok', output: { text: '' } }), false)],
    })
    talk = talkTo(runtime.handle)
    await talk.ask('go')
    const { messages } = orThrow(await runtime.handle.page())
    const message = messages.find(({ kind }) => kind === 'tool_call')?.id ?? 0
    await talk.send({ type: 'toggleAllToolCollapses' })
    await talk.send({ type: 'toggleToolCollapse', message })
    expect(await talk.send({ type: 'toggleAllToolCollapses' })).toEqual({ collapsed: true })
  })
})

describe('a summary that is being written', () => {
  it('ends at once when aborted, even if the provider does not', async () => {
    const stopping = new AbortController()
    const provider = {
      async *stream() {
        stopping.abort()
        await new Promise(() => undefined)
        yield { type: 'said', part: 0, said: { type: 'text', text: 'never' } } as const
      },
    }
    const request = { model: 'sim/model', thinkingLevel: 'off', system: '', tools: [], messages: [] } as const
    expect(
      await completeText(provider, request, { clock: createVirtualClock(), signal: stopping.signal, seed: '' }),
    ).toEqual({ failed: 'It was aborted.' })
  })

  it('keeps its session loaded until it is written', async () => {
    const gate = createGate()
    runtime = await openMemoryRuntime({
      script: ({ purpose }) => (purpose === 'summary' ? [waitAt(gate), say('# Note')] : [say('answer')]),
    })
    talk = talkTo(runtime.handle)
    await talk.ask('one')
    const written = talk.send({ type: 'summarize' })
    while (!runtime.model.requests.some(({ purpose }) => purpose === 'summary')) await new Promise(setImmediate)
    runtime.clock.advance(16 * 60_000)
    gate.open()
    expect(await written).toMatchObject({ text: '# Note' })
    expect(runtime.registry.loaded(aSession)).not.toBeNull()
    runtime.clock.advance(16 * 60_000)
    await new Promise(setImmediate)
    expect(runtime.registry.loaded(aSession)).toBeNull()
  })
})
