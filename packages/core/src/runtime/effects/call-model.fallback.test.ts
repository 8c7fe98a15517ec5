import { type EventOf, type Message, type ModelName, orThrow } from '@holdfast/protocol'
import {
  aSession,
  aTool,
  call,
  createGate,
  createScriptedModel,
  fail,
  finish,
  isRecord,
  modelsWith,
  overload,
  type ScriptedAnswer,
  type ScriptedModel,
  say,
  sayPartial,
  scriptedUsage,
  type TestRuntime,
  type TestRuntimeOptions,
  think,
  waitAt,
} from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { letWaitsPass, nextWait } from '../../testing/let-waits-pass.ts'
import { createMemoryStore, openMemoryRuntime } from '../../testing/memory-runtime.ts'

/** Longer than any wait that is allowed. */
const busy = overload(10 * 60_000)

type Cast = Readonly<Record<ModelName, readonly ScriptedAnswer[]>>

/** Opens a runtime with a script per model; the models are fallbacks in the given order. */
async function open(
  cast: Cast,
  options: Partial<TestRuntimeOptions> = {},
  contextTokens: Readonly<Record<string, number>> = {},
) {
  const names = Object.keys(cast)
  const asked: ModelName[] = []
  const actors = new Map<ModelName, ScriptedModel>(
    Object.entries(cast).map(([name, script]) => [name, createScriptedModel(script)]),
  )
  const models = modelsWith(
    (model) => {
      const actor = actors.get(model)
      if (!actor) return { type: 'unknown_model', message: `There is no ${model}.` }
      const stream: ScriptedModel['stream'] = (request, rest) => {
        asked.push(request.model)
        return actor.stream(request, rest)
      }
      return { type: 'ready', provider: { stream }, contextTokens: contextTokens[model] }
    },
    { fallback: async (_, tried) => names.find((name) => !tried.includes(name)) ?? null },
  )
  const runtime = await openMemoryRuntime({ ...options, models })
  return { runtime, asked, requestsOf: (model: ModelName) => actors.get(model)?.requests ?? [] }
}

const prompt = (runtime: TestRuntime, text = 'go') =>
  letWaitsPass(runtime, () => runtime.handle.submit({ type: 'sendPrompt', content: text }))
const viewOf = async ({ handle }: TestRuntime) => orThrow(await handle.snapshot()).view
const messagesOf = async ({ handle }: TestRuntime): Promise<readonly Message[]> =>
  orThrow(await handle.page({ limit: 500 })).messages
const notices = async (runtime: TestRuntime) =>
  (await messagesOf(runtime)).flatMap((message) =>
    message.kind === 'notice' ? [`${message.code}: ${message.text}`] : [],
  )
async function eventsOf<Type extends 'step.started' | 'step.ended' | 'text.said' | 'call.requested'>(
  { store }: TestRuntime,
  type: Type,
): Promise<readonly EventOf<Type>[]> {
  const records = await store.read(aSession, { after: 0, limit: 1000 })
  return records.flatMap((record) =>
    'lost' in record || record.event.type !== type ? [] : [record.event as EventOf<Type>],
  )
}

const look = aTool('look', async () => ({ type: 'ok', output: { text: 'a.txt' } }), false)

describe('a model that is overloaded', () => {
  it('falls back to the next model, and a notice says so', async () => {
    const { runtime, asked } = await open({ 'sim/model': [[busy]], 'other/model': [[say('Here.')]] })
    await prompt(runtime)
    expect(asked).toEqual(['sim/model', 'other/model'])
    expect(await notices(runtime)).toEqual([
      'fallback: sim/model does not answer: The service is overloaded. other/model answers instead for the rest of this turn.',
    ])
    expect((await runtime.events()).slice(4)).toEqual([
      ...['step.started', 'step.ended', 'note.added', 'step.started', 'text.said', 'step.ended', 'turn.ended'],
    ])
    expect(await eventsOf(runtime, 'step.started')).toMatchObject([
      { model: 'sim/model', attempt: 1 },
      { model: 'other/model', attempt: 2 },
    ])
  })

  it('is retried before the fallback', async () => {
    const turnedAway = [overload()]
    const { runtime, asked } = await open({
      'sim/model': [turnedAway, turnedAway, turnedAway, turnedAway],
      'other/model': [turnedAway, [say('Here.')]],
    })
    await prompt(runtime)
    expect(asked).toEqual([...Array(4).fill('sim/model'), 'other/model', 'other/model'])
    expect((await notices(runtime)).map((text) => text.split(':')[0])).toEqual([
      ...['retry', 'retry', 'retry', 'fallback', 'retry'],
    ])
  })

  it('is replaced until the turn ends, and called first in the next turn', async () => {
    const { runtime, asked } = await open(
      {
        'sim/model': [[busy], [say('I am back.')]],
        'other/model': [[call('look', {})], [say('Seen.')]],
      },
      { tools: [look] },
    )
    await prompt(runtime)
    expect(asked).toEqual(['sim/model', 'other/model', 'other/model'])
    expect((await eventsOf(runtime, 'step.started')).map(({ attempt }) => attempt)).toEqual([1, 2, 1])
    expect((await viewOf(runtime)).model).toBe('sim/model')
    await prompt(runtime, 'and now?')
    expect(asked.at(-1)).toBe('sim/model')
  })

  it('is called again when its turn is continued', async () => {
    const { runtime, asked } = await open({ 'sim/model': [[busy], [say('Here.')]], 'other/model': [[fail()]] })
    await prompt(runtime)
    expect((await viewOf(runtime)).lastTurn).toMatchObject({ reason: 'failed' })
    await letWaitsPass(runtime, () => runtime.send('on', { type: 'continue' }))
    expect(asked).toEqual(['sim/model', 'other/model', 'sim/model'])
  })

  it('falls back to each model once, and the last failure is reported', async () => {
    const { runtime, asked } = await open(
      {
        'sim/model': [[call('look', {})], [busy]],
        'second/model': [[busy]],
        'third/model': [
          [fail({ fault: { kind: 'unreachable', message: 'Gone.' }, retryable: true, retryAfterMs: 10 ** 6 })],
        ],
      },
      { tools: [look] },
    )
    await prompt(runtime)
    expect(asked).toEqual(['sim/model', 'sim/model', 'second/model', 'third/model'])
    expect((await viewOf(runtime)).lastTurn).toEqual({
      reason: 'failed',
      fault: { kind: 'unreachable', message: 'Gone.' },
    })
  })

  it.each<[string, ScriptedAnswer]>([
    ['has begun to answer', [sayPartial('He'), fail({ retryable: true })]],
    ['refuses the key', [fail({ fault: { kind: 'rejected_key', message: 'No.' } })]],
  ])('is not replaced where it %s', async (_, answer) => {
    const { runtime, asked } = await open({ 'sim/model': [answer], 'other/model': [[say('Never.')]] })
    await prompt(runtime)
    expect(asked).toEqual(['sim/model'])
  })

  it('does not count as a step or cost of the turn', async () => {
    const priced = { ...scriptedUsage, cost: 0.5 }
    const { runtime } = await open(
      {
        'sim/model': [[busy]],
        'other/model': [[say('Here.'), finish('stop', priced)]],
      },
      { start: { budgets: { maxSteps: 1 } } },
    )
    await prompt(runtime)
    expect((await viewOf(runtime)).lastTurn).toEqual({ reason: 'done' })
    expect((await eventsOf(runtime, 'step.ended')).map(({ usage }) => usage?.cost)).toEqual([undefined, 0.5])
    expect(orThrow(await runtime.handle.snapshot()).meta.usage.cost).toBe(0.5)
  })
})

describe('the answer of a fallback model', () => {
  it('is recorded with its own provider, and the view names the model', async () => {
    const gate = createGate()
    const { runtime } = await open({ 'sim/model': [[busy]], 'other/model': [[waitAt(gate), say('Here.')]] })
    await runtime.send('go', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    expect(await viewOf(runtime)).toMatchObject({ model: 'sim/model', fallback: 'other/model' })
    gate.open()
    await runtime.frame(isRecord('turn.ended'))
    expect(await eventsOf(runtime, 'text.said')).toMatchObject([{ text: 'Here.', provider: 'other' }])
    expect(await viewOf(runtime)).toMatchObject({ model: 'sim/model', fallback: null })
  })

  it('is requested without the thinking of the first model', async () => {
    const { runtime, requestsOf } = await open(
      {
        'sim/model': [[think('My secret.', { sim: { signature: 'opaque' } }), call('look', {})], [busy]],
        'other/model': [[say('Here.')]],
      },
      { tools: [look] },
    )
    await prompt(runtime)
    const [request] = requestsOf('other/model')
    expect(JSON.stringify(request)).toContain('a.txt')
    expect(JSON.stringify(request)).not.toMatch(/secret|opaque/)
  })

  it('includes steering prompts', async () => {
    const gate = createGate()
    const { runtime, requestsOf } = await open({
      'sim/model': [[waitAt(gate), busy]],
      'other/model': [[say('There.')]],
    })
    await runtime.send('go', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    await runtime.send('steer', { type: 'sendPrompt', content: 'no, there' })
    gate.open()
    await runtime.frame(isRecord('turn.ended'))
    expect(JSON.stringify(requestsOf('other/model')[0])).toContain('no, there')
  })

  it('fits its context: a longer history is summarised first', async () => {
    const long = [say('A long story.'), finish('stop', { ...scriptedUsage, input: 900 })]
    const { runtime, requestsOf } = await open(
      {
        'sim/model': [long, long, long, long, [busy]],
        'other/model': [[say('In short.')], [say('Here.')]],
      },
      {},
      { 'sim/model': 100_000, 'other/model': 1000 },
    )
    for (const text of ['a', 'b', 'c', 'd', 'e']) await prompt(runtime, text)
    expect(requestsOf('other/model').map(({ purpose }) => purpose)).toEqual(['summary', undefined])
    expect(JSON.stringify(requestsOf('other/model')[1])).toContain('In short.')
  })
})

describe('a model that a person chooses during a fallback', () => {
  it('answers instead of any fallback', async () => {
    const { runtime, asked } = await open({
      'sim/model': [[overload(1000)], [busy]],
      'other/model': [[say('Never.')]],
      'chosen/model': [[say('Here.')]],
    })
    await letWaitsPass(runtime, async () => {
      await runtime.send('go', { type: 'sendPrompt', content: 'go' })
      await nextWait(runtime)
      await runtime.send('choose', { type: 'setModel', model: 'chosen/model' })
    })
    expect(asked).toEqual(['sim/model', 'sim/model', 'chosen/model'])
  })

  it('answers also in the middle of a turn with a fallback', async () => {
    const gate = createGate()
    const { runtime, asked } = await open(
      {
        'sim/model': [[busy]],
        'other/model': [[waitAt(gate), call('look', {})]],
        'chosen/model': [[say('Here.')]],
      },
      { tools: [look] },
    )
    await runtime.send('go', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    await runtime.send('choose', { type: 'setModel', model: 'chosen/model' })
    expect((await viewOf(runtime)).fallback).toBeNull()
    gate.open()
    await runtime.frame(isRecord('turn.ended'))
    expect(asked).toEqual(['sim/model', 'other/model', 'chosen/model'])
  })
})

describe('a crash during a fallback', () => {
  it('ends the turn, and the session calls its own model when it is continued', async () => {
    const store = createMemoryStore()
    const gate = createGate()
    const cast: Cast = { 'sim/model': [[busy]], 'other/model': [[waitAt(gate)]] }
    const old = await open(cast, { store })
    await old.runtime.send('go', { type: 'sendPrompt', content: 'go' })
    await gate.reached
    const { runtime, asked } = await open(
      { 'sim/model': [[say('Back.')]] },
      { store, blobs: old.runtime.blobs, takesOver: true, node: 'two' },
    )
    await runtime.frame(isRecord('turn.ended'))
    expect((await viewOf(runtime)).lastTurn).toEqual({ reason: 'interrupted' })
    await letWaitsPass(runtime, () => runtime.send('on', { type: 'continue' }))
    expect(asked).toEqual(['sim/model'])
  })
})
