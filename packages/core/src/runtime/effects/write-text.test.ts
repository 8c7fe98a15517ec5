import { type EventOf, limits, orThrow } from '@holdfast/protocol'
import {
  aSession,
  createScriptedModel,
  fail,
  finish,
  modelsWith,
  overload,
  type ScriptedAnswer,
  say,
  scriptedUsage,
  type TestRuntime,
} from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ModelReadiness } from '../../ports/provider.ts'
import { letWaitsPass, stillness } from '../../testing/let-waits-pass.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { type Talk, talkTo } from '../../testing/talk.ts'

type Ready = Extract<ModelReadiness, { type: 'ready' }>

/** The tokens that the service reports for the next step. */
let counted = 100
/** The summary that the session model writes. */
let ownSummary: ScriptedAnswer = [say('my own summary')]
let own: ReturnType<typeof createScriptedModel>
let scribe: ReturnType<typeof createScriptedModel>
let runtime: TestRuntime
let talk: Talk
/** The answer of the summary model, and its facts. */
async function open(
  script: readonly ScriptedAnswer[],
  known: Partial<Omit<Ready, 'type' | 'provider'>> | { readonly type: 'no_credentials'; readonly message: string } = {},
) {
  counted = 100
  ownSummary = [say('my own summary')]
  own = createScriptedModel(({ purpose }, index) =>
    purpose === 'summary' ? ownSummary : [say(`answer ${index}`), finish('stop', { ...scriptedUsage, input: counted })],
  )
  scribe = createScriptedModel(script)
  const models = modelsWith((model) => {
    if (model !== 'cheap/scribe') return { type: 'ready', provider: own, contextTokens: 1000 }
    return 'message' in known ? known : { type: 'ready', provider: scribe, ...known }
  })
  runtime = await openMemoryRuntime({ models, compactionModel: 'cheap/scribe' })
  talk = talkTo(runtime.handle)
  for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
}

async function written<Type extends 'checkpoint.written' | 'summary.saved'>(
  type: Type,
): Promise<readonly EventOf<Type>[]> {
  const records = await runtime.store.read(aSession, { after: 0, limit: 1000 })
  return records.flatMap((record) =>
    'lost' in record || record.event.type !== type ? [] : [record.event as EventOf<Type>],
  )
}

const bill = { ...scriptedUsage, cost: 0.01 }

describe('the model that writes summaries', () => {
  beforeEach(() =>
    open([
      [say('in short'), finish('stop', bill)],
      [say('# In short'), finish('stop', bill)],
    ]),
  )

  it('writes compactions and notes, and its usage is recorded with its name', async () => {
    expect(await talk.send({ type: 'compact' })).toMatchObject({ summary: 'in short' })
    expect(await written('checkpoint.written')).toMatchObject([{ model: 'cheap/scribe', usage: bill }])
    await talk.send({ type: 'summarize' })
    expect(await written('summary.saved')).toMatchObject([{ model: 'cheap/scribe', usage: bill }])
    expect(scribe.requests.map(({ model, purpose }) => `${model} ${purpose}`)).toEqual(
      Array(2).fill('cheap/scribe summary'),
    )
    expect(orThrow(await runtime.handle.snapshot()).meta.usage.cost).toBeCloseTo(0.02)
  })

  it('also writes in the middle of a turn, which continues with its own model', async () => {
    counted = 900
    await talk.ask('one more')
    await talk.ask('and now?')
    expect(await written('checkpoint.written')).toMatchObject([{ why: 'automatic', model: 'cheap/scribe' }])
    expect(JSON.stringify(own.requests.at(-1))).toContain('in short')
  })
})

describe("the session's own model writes them", () => {
  it.each([
    ['if the summary model has no credentials', { type: 'no_credentials', message: 'No key.' }],
    ['if the context of the summary model is too small', { contextTokens: 40 }],
  ] as const)('%s', async (_, known) => {
    await open([[say('in short')]], known)
    expect(await talk.send({ type: 'compact' })).toMatchObject({ summary: 'my own summary' })
    expect(scribe.requests).toEqual([])
    expect(await written('checkpoint.written')).toMatchObject([{ model: 'sim/model' }])
  })
})

const standsStill = Array.from({ length: limits.retriesMax + 1 }, () => [overload(6000)])

describe('a summary model that does not respond', () => {
  it.each(['compact', 'summarize'] as const)("is replaced by the session's model: %s", async (type) => {
    await open(standsStill)
    const asked = talk.send({ type })
    for (const _ of standsStill.slice(1)) {
      await stillness()
      runtime.clock.advance(6000)
    }
    await asked
    expect(scribe.requests).toHaveLength(standsStill.length)
    const event = type === 'compact' ? 'checkpoint.written' : 'summary.saved'
    expect(await written(event)).toMatchObject([{ model: 'sim/model', usage: scriptedUsage }])
  })

  it('does not stop a turn that needs a summary', async () => {
    await open(standsStill)
    counted = 900
    await talk.ask('one more')
    counted = 100
    await letWaitsPass(runtime, () => runtime.handle.submit({ type: 'sendPrompt', content: 'and now?' }))
    expect(await written('checkpoint.written')).toMatchObject([{ why: 'automatic', model: 'sim/model' }])
  })
})

describe('a summary that the model cannot write at once', () => {
  it('is retried after a wait, without a notice', async () => {
    await open([[overload(6000)], [overload(6000)], [say('in short')]])
    const compacting = talk.send({ type: 'compact' })
    for (const _ of [1, 2]) {
      await stillness()
      runtime.clock.advance(6000)
    }
    expect(await compacting).toMatchObject({ summary: 'in short' })
    expect(await runtime.events()).not.toContain('note.added')
  })

  it('is given up at once on abort', async () => {
    await open([[overload(6000)], [say('too late')]])
    const compacting = talk.refusal({ type: 'compact' })
    await stillness()
    await talk.send({ type: 'abort' })
    expect(await compacting).toBe('summary_failed')
    runtime.clock.advance(6000)
    await stillness()
    expect(scribe.requests).toHaveLength(1)
  })

  it('adds one notice to its turn after the last try, and the turn continues', async () => {
    await open(standsStill)
    ownSummary = [fail()]
    counted = 900
    await talk.ask('one more')
    const waits = await letWaitsPass(runtime, () => runtime.handle.submit({ type: 'sendPrompt', content: 'and now?' }))
    expect(waits).toEqual([6000, 6000, 6000])
    const { messages } = orThrow(await runtime.handle.page({ limit: 500 }))
    expect(messages.filter(({ kind }) => kind === 'notice')).toMatchObject([{ code: 'compaction_failed' }])
    expect(messages.at(-2)).toMatchObject({ kind: 'assistant' })
  })

  it('is not retried if it would fail again', async () => {
    await open([[fail()], [say('never')]])
    expect(await talk.refusal({ type: 'compact' })).toBe('summary_failed')
    expect(scribe.requests).toHaveLength(1)
  })
})
