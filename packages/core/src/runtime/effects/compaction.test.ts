import { orThrow } from '@holdfast/protocol'
import { aTool, call, createGate, fail, finish, say, type TestRuntime, waitAt } from '@holdfast/testkit'
import { beforeEach, describe, expect, it } from 'vitest'
import type { ModelRequest, Models } from '../../ports/provider.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { textsOf } from '../../testing/request-texts.ts'
import { type Talk, talkTo } from '../../testing/talk.ts'

const isSummary = ({ purpose }: ModelRequest) => purpose === 'summary'
const usage = (input: number) => ({ input, output: 10, cacheRead: 0, cacheWrite: 0, cost: 0 })

/** A model with a context of 1,000 tokens that reports its usage. */
const smallContext =
  (find: Models['find']): Models['find'] =>
  (model) => {
    const found = find(model)
    return found.type === 'ready' ? { ...found, contextTokens: 1000 } : found
  }

let runtime: TestRuntime
let talk: Talk
let summaries = 0
/** The tokens that the service reports for the next step. */
let counted = 100
let summary: readonly ReturnType<typeof say>[] = []
beforeEach(async () => {
  summaries = 0
  counted = 100
  summary = []
  runtime = await openMemoryRuntime({
    script: (request, index) =>
      isSummary(request)
        ? [...(summary.length > 0 ? summary : [say(`summary ${++summaries}`)])]
        : [say(`answer ${index}`), finish('stop', usage(counted))],
  })
  runtime.registry.deps.models.find = smallContext(runtime.registry.deps.models.find)
  talk = talkTo(runtime.handle)
})
const asked = () => runtime.model.requests.filter((request) => !isSummary(request))
const summed = () => runtime.model.requests.filter(isSummary)

/** Opens a runtime whose model calls a tool eleven times and reports its usage. */
async function openLongTurn(): Promise<TestRuntime> {
  let steps = 0
  const long = await openMemoryRuntime({
    tools: [aTool('look', async () => ({ type: 'ok', output: { text: 'seen' } }), false)],
    script: (request) => {
      if (isSummary(request)) return [say('what was seen')]
      steps++
      return steps < 12
        ? [call('look', { steps }), finish('calls', usage(steps * 100))]
        : [say('done'), finish('stop', usage(200))]
    },
  })
  long.registry.deps.models.find = smallContext(long.registry.deps.models.find)
  return long
}

describe('compaction by hand', () => {
  it('sends the model a summary of all but the last messages, and the transcript stays complete', async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    const before = await talk.words()
    expect(await talk.send({ type: 'compact' })).toMatchObject({ summary: 'summary 1' })
    expect(await talk.words()).toEqual(before)
    await talk.ask('and now?')
    expect(textsOf(asked().at(-1))).toEqual([
      'Summary of the conversation so far:\n\nsummary 1',
      ...before.slice(-6),
      'and now?',
    ])
  })

  it('is refused if there is nothing before the last messages', async () => {
    for (let turn = 0; turn < 3; turn++) await talk.ask(`prompt ${turn}`)
    expect(await talk.refusal({ type: 'compact' })).toBe('nothing_to_compact')
    expect(summed()).toEqual([])
  })

  it('is refused if the summary is longer than the messages it would replace', async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    summary = [say('very long '.repeat(100))]
    await expect(talk.send({ type: 'compact' })).rejects.toThrow('longer than the messages it would replace')
    await talk.ask('and now?')
    expect(textsOf(asked().at(-1)).length).toBe(11)
  })

  it('includes the earlier summary in the next one', async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    await talk.send({ type: 'compact' })
    for (let turn = 5; turn < 10; turn++) await talk.ask(`prompt ${turn}`)
    await talk.send({ type: 'compact' })
    expect(textsOf(summed()[1]).join()).toContain('summary 1')
    expect(textsOf(summed()[1]).join()).not.toContain('prompt 0')
  })

  it('keeps messages that arrive while the summary is written', async () => {
    const gate = createGate()
    summary = [waitAt(gate) as ReturnType<typeof say>, say('slow summary')]
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    const compacting = talk.send({ type: 'compact' })
    await gate.reached
    await talk.ask('meanwhile')
    gate.open()
    expect(await compacting).toMatchObject({ summary: 'slow summary' })
    await talk.ask('and now?')
    expect(textsOf(asked().at(-1)).slice(-3)).toEqual(['meanwhile', expect.stringMatching(/^answer/), 'and now?'])
  })

  it.each(['refused', 'length'] as const)('is not taken from a model that ends with %s', async (how) => {
    summary = [say('half of'), finish(how) as ReturnType<typeof say>]
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    const before = await runtime.events()
    expect(await talk.refusal({ type: 'compact' })).toBe('summary_failed')
    expect(await runtime.events()).toEqual(before)
  })

  it('is ended by an abort, and nothing is recorded', async () => {
    const gate = createGate()
    summary = [waitAt(gate) as ReturnType<typeof say>]
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    const before = await runtime.events()
    const compacting = talk.refusal({ type: 'compact' })
    await gate.reached
    await talk.send({ type: 'abort' })
    expect(await compacting).toBe('summary_failed')
    expect(await runtime.events()).toEqual(before)
  })

  it('with the same command id gets the same answer, without a model call', async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    const first = await runtime.send('once', { type: 'compact' })
    expect(await runtime.send('once', { type: 'compact' })).toEqual(first)
    expect(summed()).toHaveLength(1)
  })

  it('counts its usage', async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    const { usage: before } = orThrow(await runtime.handle.snapshot()).meta
    await talk.send({ type: 'compact' })
    const { usage: after } = orThrow(await runtime.handle.snapshot()).meta
    expect(after.input - before.input).toBe(100)
  })
})

describe('automatic compaction', () => {
  it('runs before the step whose request would be too large', async () => {
    for (let turn = 0; turn < 4; turn++) await talk.ask(`prompt ${turn}`)
    counted = 900
    await talk.ask('large')
    expect(summed()).toHaveLength(0)
    counted = 200
    await talk.ask('next')
    expect(summed()).toHaveLength(1)
    expect(textsOf(asked().at(-1))[0]).toBe('Summary of the conversation so far:\n\nsummary 1')
    expect((await runtime.events()).filter((type) => type === 'checkpoint.written')).toHaveLength(1)
  })

  it('that fails adds a notice, the turn continues, and it is not retried at once', async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    counted = 900
    await talk.ask('large')
    summary = [fail() as ReturnType<typeof say>]
    await talk.ask('next')
    await talk.ask('and next')
    expect(summed()).toHaveLength(1)
    const { messages } = orThrow(await runtime.handle.page({ limit: 100 }))
    expect(messages.find(({ kind }) => kind === 'notice')).toMatchObject({ level: 'error', code: 'compaction_failed' })
    expect((await talk.words()).at(-1)).toMatch(/^answer/)
  })

  it('cuts at closed rounds inside a long turn, and keeps its prompt verbatim', async () => {
    const long = await openLongTurn()
    await talkTo(long.handle).ask('the only prompt')
    const request = long.model.requests.findLast((one) => !isSummary(one))
    expect(textsOf(request).slice(0, 2)).toEqual([
      'Summary of the conversation so far:\n\nwhat was seen',
      'the only prompt',
    ])
    expect(long.model.requests.filter(isSummary).length).toBeGreaterThan(0)
  })
})

describe('the prompt of a long turn', () => {
  it('is kept when a summary is set, and is part of a summary written while idle', async () => {
    const long = await openLongTurn()
    const person = talkTo(long.handle)
    await person.ask('the only prompt')
    await person.send({ type: 'setSummary', summary: 'in short' })
    await person.ask('and?')
    expect(textsOf(long.model.requests.at(-1)).slice(0, 2)).toEqual([
      'Summary of the conversation so far:\n\nin short',
      'the only prompt',
    ])
    await person.send({ type: 'compact' })
    expect(textsOf(long.model.requests.at(-1)).join()).toContain('the only prompt')
  })
})

describe('undoing a compaction', () => {
  it("restores the model's view of the line, and delays the next automatic one", async () => {
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    await talk.send({ type: 'compact' })
    await talk.send({ type: 'undoCompaction' })
    counted = 900 // over 0.8, under 0.95
    await talk.ask('and now?')
    expect(textsOf(asked().at(-1))[0]).toBe('prompt 0')
    await talk.ask('more')
    expect(summed()).toHaveLength(1)
  })

  it('is refused if the line would not fit or there is no compaction', async () => {
    expect(await talk.refusal({ type: 'undoCompaction' })).toBe('nothing_to_compact')
    counted = 900
    for (let turn = 0; turn < 5; turn++) await talk.ask(`prompt ${turn}`)
    counted = 990
    await talk.ask('large')
    expect(await talk.refusal({ type: 'undoCompaction' })).toBe('context_too_large')
  })
})

describe('a summary and a checkpoint of the caller', () => {
  it('are sent before the messages, and hide none of them', async () => {
    await talk.ask('one')
    await talk.send({ type: 'setSummary', summary: 'They met before.' })
    await talk.ask('two')
    expect(textsOf(asked().at(-1))).toEqual([
      'Summary of the conversation so far:\n\nThey met before.',
      'one',
      'answer 0',
      'two',
    ])
  })

  it('replace the earlier summary, and are counted once', async () => {
    await talk.ask('one')
    const tokens = async () => orThrow(await runtime.handle.snapshot()).view.tokens
    await talk.send({ type: 'setSummary', summary: 'They met before.' })
    const once = await tokens()
    await talk.send({ type: 'setSummary', summary: 'They met before.' })
    expect(await tokens()).toBe(once)
  })

  it('replace everything before them', async () => {
    await talk.ask('one')
    const messages = [
      { role: 'user', content: 'in short' },
      { role: 'assistant', content: 'yes' },
    ] as const
    await talk.send({ type: 'appendCheckpoint', messages: [...messages], tokenCount: 50 })
    await talk.ask('two')
    expect(textsOf(asked().at(-1))).toEqual(['in short', 'yes', 'two'])
    expect((await talk.words())[0]).toBe('one')
  })
})

describe('checkpoints of the caller, one after the other', () => {
  it('count tokens outside messages once, however many are undone', async () => {
    counted = 300 // most of these tokens are outside messages
    for (let round = 0; round < 3; round++) {
      await talk.send({ type: 'appendCheckpoint', messages: [{ role: 'user', content: 'in short' }] })
      await talk.ask('and?')
    }
    for (let round = 0; round < 3; round++) await talk.send({ type: 'undoCompaction' })
    expect(orThrow(await runtime.handle.snapshot()).view.tokens).toBeLessThan(450)
  })
})

describe('resuming', () => {
  it('reads only pinned messages before the last checkpoint', async () => {
    for (let turn = 0; turn < 20; turn++) await talk.ask(`prompt ${turn}`)
    await talk.send({ type: 'compact' })
    const { seq } = orThrow(await runtime.handle.snapshot())
    await runtime.registry.unload(runtime.handle.id)
    const read: number[] = []
    const { store } = runtime
    const inner = store.read
    store.read = async (...args) => {
      const page = await inner(...args)
      read.push(...page.map((record) => record.seq))
      return page
    }
    await runtime.send('next', { type: 'sendPrompt', content: 'and now?' })
    for await (const frame of runtime.handle.subscribe({ after: seq })) {
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    }
    store.read = inner
    // The three last turns are kept, five records each, followed by the checkpoint.
    expect(Math.min(...read)).toBeGreaterThan(seq - 1 - 3 * 6)
    expect(textsOf(asked().at(-1))).toHaveLength(8)
  })
})

describe('a note for people', () => {
  it('is written by the model, and its path is recorded', async () => {
    summary = [say('# How we met\n\n## Decisions\n- none')]
    expect(await talk.refusal({ type: 'summarize' })).toBe('nothing_to_summarize')
    await talk.ask('one')
    expect(await talk.send({ type: 'summarize' })).toEqual({
      text: '# How we met\n\n## Decisions\n- none',
      path: 'notes/How we met.md',
    })
    expect((await runtime.events()).at(-1)).toBe('summary.saved')
  })
})
