import type { LanguageModelV3, LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { aRequest, userSays } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { createAiSdkProvider } from './provider.ts'

type Options = Parameters<LanguageModelV4['doStream']>[0]
const noTokens = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
const finish = (unified: 'stop' | 'error'): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified, raw: undefined },
  usage: { inputTokens: { ...noTokens, total: 12 }, outputTokens: { total: 3, text: undefined, reasoning: undefined } },
})

const modelOf = (doStream: LanguageModelV4['doStream']): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: 'made-up',
  modelId: 'model',
  supportedUrls: {},
  doGenerate: () => Promise.reject(new Error('not used')),
  doStream,
})
const streamOf = (...parts: readonly LanguageModelV4StreamPart[]) => ReadableStream.from(parts)
const providerOf = (model: LanguageModelV3 | LanguageModelV4) => createAiSdkProvider(model, { title: 'made-up' })

async function collect(provider: Provider, request: ModelRequest = aRequest(), signal = new AbortController().signal) {
  const parts: ModelPart[] = []
  for await (const part of provider.stream(request, { signal })) parts.push(part)
  return parts
}

describe('AI SDK provider with any model', () => {
  it('gives the first fragment out at once, and joins those that come with it', async () => {
    const words = Array.from({ length: 2000 }, (_, index) => `word ${index} `)
    const deltas = words.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const)
    const stream = streamOf(...deltas, { type: 'text-end', id: '1' }, finish('stop'))
    const parts = await collect(providerOf(modelOf(async () => ({ stream }))))
    const texts = parts.flatMap((part) => (part.type === 'delta' ? [part.text] : []))
    expect(texts[0]).toBe('word 0 ')
    expect(texts.join('')).toBe(words.join(''))
    expect(texts.length).toBeLessThan(20)
    expect(parts.map(({ type }) => type).slice(texts.length)).toEqual(['said', 'end'])
  })

  it('lets other work run while a model has everything ready', async () => {
    const deltas = Array.from({ length: 5000 }, () => ({ type: 'text-delta', id: '1', delta: 'x' }) as const)
    let slices = 0
    const counting = setInterval(() => slices++, 0)
    await collect(providerOf(modelOf(async () => ({ stream: streamOf(...deltas, finish('stop')) }))))
    clearInterval(counting)
    expect(slices).toBeGreaterThan(0)
  })

  it('records unused fragments with the next complete part', async () => {
    const source = { type: 'source' as const, sourceType: 'url' as const, id: 's1', url: 'https://a.test/' }
    const own = { toolCallId: 'w1', toolName: 'web_search' }
    const stream = streamOf(
      { type: 'stream-start', warnings: [] },
      { type: 'response-metadata', id: 'r1' },
      { type: 'ping' },
      { type: 'raw', rawValue: { secret: 1 } },
      { type: 'tool-input-start', id: 'w1', toolName: 'web_search', providerExecuted: true },
      { type: 'tool-input-delta', id: 'w1', delta: '{}' },
      { type: 'tool-call', ...own, input: '{}', providerExecuted: true },
      { type: 'tool-result', ...own, result: { found: 1 } },
      { type: 'file', mediaType: 'image/png', data: { type: 'data', data: new Uint8Array([1, 2, 3]) } },
      { type: 'text-delta', id: '1', delta: 'Look' },
      { type: 'text-end', id: '1', providerMetadata: { made: { id: 't1' } } },
      source,
      JSON.parse('{"type":"hologram","id":"1"}'),
      finish('stop'),
    )
    const parts = await collect(providerOf(modelOf(async () => ({ stream }))))
    expect(parts.flatMap((part) => (part.type === 'said' ? [part.said] : []))).toEqual([
      {
        type: 'text',
        text: 'Look',
        meta: {
          made: { id: 't1' },
          holdfast: {
            kept: [
              { type: 'tool-call', ...own, input: '{}', providerExecuted: true },
              { type: 'tool-result', ...own, result: { found: 1 } },
              { type: 'file', mediaType: 'image/png', data: { type: 'data', data: 'AQID' } },
            ],
          },
        },
      },
      { type: 'text', text: '', meta: { holdfast: { kept: [source, { type: 'hologram', id: '1' }] } } },
    ])
    expect(parts.at(-1)).toEqual({
      type: 'end',
      end: {
        type: 'complete',
        finish: 'stop',
        usage: { input: 12, output: 3, cacheRead: 0, cacheWrite: 0, cost: null },
      },
    })
  })

  it('does not send unused fragments back', async () => {
    const asked: Options[] = []
    const model = modelOf(async (options) => {
      asked.push(options)
      return { stream: streamOf(finish('stop')) }
    })
    const meta = { made: { id: 't1' }, holdfast: { kept: [{ type: 'source', id: 's1' }] } }
    const content = [
      { type: 'text' as const, text: 'Look', meta },
      { type: 'text' as const, text: '', meta: { holdfast: meta.holdfast } },
    ]
    await collect(providerOf(model), aRequest({ messages: [userSays('go'), { role: 'assistant', content }] }))
    expect(asked[0]?.prompt.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'Look', providerOptions: { made: { id: 't1' } } }],
    })
  })

  it('limits recorded fragments and counts the omitted ones', async () => {
    const data = 'A'.repeat(40_000)
    const large = { type: 'file' as const, mediaType: 'image/png', data: { type: 'data' as const, data } }
    const round = JSON.parse('{"type":"ring"}')
    round.self = round
    const stream = streamOf(large, large, round, finish('stop'))
    const [part] = await collect(providerOf(modelOf(async () => ({ stream }))))
    expect(part).toMatchObject({ said: { meta: { holdfast: { kept: [large, { type: 'omitted', count: 2 }] } } } })
  })

  it('merges metadata that arrives in pieces', async () => {
    const exact = ' \u0000é\u{1f600}\ud800+/== '
    const stream = streamOf(
      { type: 'reasoning-start', id: '1', providerMetadata: { made: { id: 'r1' } } },
      { type: 'reasoning-delta', id: '1', delta: 'hm', providerMetadata: { made: { signature: exact } } },
      { type: 'reasoning-end', id: '1', providerMetadata: { made: { encrypted: 'x==' }, other: { n: 1 } } },
      finish('stop'),
    )
    const made = { id: 'r1', signature: exact, encrypted: 'x==' }
    expect((await collect(providerOf(modelOf(async () => ({ stream })))))[1]).toEqual({
      type: 'said',
      part: 0,
      said: { type: 'thinking', text: 'hm', meta: { made, other: { n: 1 } } },
    })
  })

  it('drops the metadata of changed text or arguments', async () => {
    const providerMetadata = { made: { signature: 's' } }
    const called = (input: string) => ({ type: 'tool-call' as const, toolCallId: input, toolName: 'one', input })
    const stream = streamOf(
      { type: 'text-delta', id: '1', delta: 'half \ud83d' },
      { type: 'text-end', id: '1', providerMetadata },
      { ...called('{"a":"\\ud83d"}'), providerMetadata },
      { ...called('{"a":'), providerMetadata },
      { ...called('{"a": 1.0}'), providerMetadata },
      { ...called(''), providerMetadata },
      finish('stop'),
    )
    const parts = await collect(providerOf(modelOf(async () => ({ stream }))))
    const said = parts.flatMap((part) => (part.type === 'said' ? [part.said] : []))
    expect(said.map(({ meta }) => meta)).toEqual([undefined, undefined, undefined, providerMetadata, providerMetadata])
  })

  it('separates interleaved parts', async () => {
    const stream = streamOf(
      { type: 'tool-input-start', id: 'a', toolName: 'one' },
      { type: 'tool-input-start', id: 'b', toolName: 'two' },
      { type: 'tool-input-delta', id: 'b', delta: '{}' },
      { type: 'tool-input-delta', id: 'a', delta: '{}' },
      { type: 'tool-call', toolCallId: 'b', toolName: 'two', input: '{}' },
      { type: 'tool-call', toolCallId: 'a', toolName: 'one', input: '' },
      finish('stop'),
    )
    const parts = await collect(providerOf(modelOf(async () => ({ stream }))))
    expect(parts.slice(0, -1)).toEqual([
      { type: 'delta', part: 1, kind: 'input', text: '{}', tool: 'two' },
      { type: 'delta', part: 0, kind: 'input', text: '{}', tool: 'one' },
      { type: 'said', part: 1, said: { type: 'call', tool: 'two', args: {} } },
      { type: 'said', part: 0, said: { type: 'call', tool: 'one', args: {} } },
    ])
    expect(parts.at(-1)).toMatchObject({ end: { finish: 'calls' } })
  })

  it('completes text without an end, but never an unfinished call', async () => {
    const stream = streamOf(
      { type: 'text-delta', id: '1', delta: 'Words' },
      { type: 'tool-input-start', id: 'a', toolName: 'one' },
      { type: 'tool-input-delta', id: 'a', delta: '{"x":' },
      finish('stop'),
    )
    const parts = await collect(providerOf(modelOf(async () => ({ stream }))))
    expect(parts.flatMap((part) => (part.type === 'said' ? [part.said] : []))).toEqual([
      { type: 'text', text: 'Words' },
    ])
    expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop' } })
  })

  it.each<readonly [string, LanguageModelV4['doStream']]>([
    [
      'throws at once',
      () => {
        throw new Error('boom')
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['brings no stream', async () => JSON.parse('{}')],
    [
      'brings a stream that fails',
      async () => ({ stream: new ReadableStream({ pull: (c) => c.error(new Error('boom')) }) }),
    ],
    ['sends invalid fragments', async () => ({ stream: streamOf(JSON.parse('null')) })],
    ['finishes with an error', async () => ({ stream: streamOf(finish('error')) })],
  ])('ends as failed when the model %s', async (_what, doStream) => {
    expect(await collect(providerOf(modelOf(doStream)))).toMatchObject([{ type: 'end', end: { type: 'failed' } }])
  })

  it('treats a stream without a finish as a broken connection', async () => {
    const stream = streamOf({ type: 'text-start', id: '1' }, { type: 'text-delta', id: '1', delta: 'Half of' })
    const parts = await collect(providerOf(modelOf(async () => ({ stream }))))
    expect(parts).toMatchObject([
      { type: 'delta', text: 'Half of' },
      { type: 'end', end: { type: 'failed', fault: { kind: 'unreachable' }, retryable: true } },
    ])
  })

  it('ends as aborted even if the model ignores its signal', async () => {
    const abort = new AbortController()
    const deaf = modelOf(async () => {
      queueMicrotask(() => abort.abort())
      return { stream: new ReadableStream<LanguageModelV4StreamPart>() }
    })
    expect(await collect(providerOf(deaf), aRequest(), abort.signal)).toEqual([
      { type: 'end', end: { type: 'aborted' } },
    ])
  })

  it('cancels a stream that opens after the abort', async () => {
    const abort = new AbortController()
    const late = Promise.withResolvers<{ stream: ReadableStream<LanguageModelV4StreamPart> }>()
    const slow = modelOf(() => {
      queueMicrotask(() => abort.abort())
      return late.promise
    })
    const parts = collect(providerOf(slow), aRequest(), abort.signal)
    expect(await parts).toEqual([{ type: 'end', end: { type: 'aborted' } }])
    const cancelled = Promise.withResolvers<void>()
    late.resolve({ stream: new ReadableStream({ cancel: () => cancelled.resolve() }) })
    await cancelled.promise
  })

  it('aborts the model when its reader stops', async () => {
    const asked: Options[] = []
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      start: (controller) => controller.enqueue({ type: 'text-delta', id: '1', delta: 'on and on' }),
    })
    const model = modelOf(async (options) => {
      asked.push(options)
      return { stream }
    })
    const provider = providerOf(model)
    for await (const _part of provider.stream(aRequest(), { signal: new AbortController().signal })) break
    expect(asked[0]?.abortSignal?.aborted).toBe(true)
  })

  it('sends the options of the session’s program, which override ours', async () => {
    const asked: Options[] = []
    const model: LanguageModelV4 = {
      ...modelOf(async (options) => {
        asked.push(options)
        return { stream: streamOf(finish('stop')) }
      }),
      provider: 'anthropic.messages',
    }
    const providerOptions = { anthropic: { includePings: false, effort: 'high' }, other: { a: [1] } }
    await collect(providerOf(model), { ...aRequest(), providerOptions })
    await collect(providerOf(model))
    expect(asked.map((one) => one.providerOptions)).toEqual([providerOptions, { anthropic: { includePings: true } }])
  })

  it('supports models of the previous SDK interface', async () => {
    const asked: unknown[] = []
    const model: LanguageModelV3 = {
      specificationVersion: 'v3',
      provider: 'anthropic.messages',
      modelId: 'old',
      supportedUrls: {},
      doGenerate: () => Promise.reject(new Error('not used')),
      doStream: async (options) => {
        asked.push(options)
        return {
          stream: ReadableStream.from([
            { type: 'text-delta' as const, id: '1', delta: 'hi' },
            {
              type: 'finish' as const,
              finishReason: { unified: 'stop' as const, raw: undefined },
              usage: { inputTokens: noTokens, outputTokens: { total: 1, text: 1, reasoning: 0 } },
            },
          ]),
        }
      },
    }
    const file = { type: 'file' as const, mediaType: 'image/png', name: 'a.png', bytes: new Uint8Array([1]) }
    const request = aRequest({ thinkingLevel: 'low', messages: [{ role: 'user', content: [file] }] })
    expect((await collect(providerOf(model), request)).at(-1)).toMatchObject({
      end: { type: 'complete', finish: 'stop' },
    })
    expect(asked).toMatchObject([
      {
        prompt: [
          { role: 'system' },
          { role: 'user', content: [{ type: 'file', filename: 'a.png', data: new Uint8Array([1]) }] },
        ],
        providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 3_200 } } },
      },
    ])
    const known = { title: 'made-up', thinkingLevels: ['off'] as const, outputTokens: 9_000 }
    await collect(createAiSdkProvider(model, known), request)
    expect(asked[1]).toMatchObject({ maxOutputTokens: 9_000, providerOptions: { anthropic: { includePings: true } } })
    expect(asked[1]).not.toHaveProperty('providerOptions.anthropic.thinking')
    // As for every budget: a share of the output limit; the rest is for the answer.
    await collect(createAiSdkProvider(model, { title: 'made-up', outputTokens: 20_000 }), request)
    await collect(providerOf(model), { ...request, thinkingLevel: 'off' })
    expect(asked.slice(2)).toMatchObject([
      {
        maxOutputTokens: 18_000,
        providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
      },
      { providerOptions: { anthropic: { thinking: { type: 'disabled' } } } },
    ])
  })
})
