import { createAnthropic } from '@ai-sdk/anthropic'
import type { ModelEnd, ModelPart, ModelRequest, Provider, RequestMessage, SaidPart } from '@holdfast/core/ports'
import { type AnthropicAnswer, type AnthropicServer, aRequest, startAnthropicServer, userSays } from '@holdfast/testkit'
import { describeProvider } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AiSdkProviderOptions, createAiSdkProvider } from './provider.ts'

const key = 'sk-ant-secret-0123456789'
const modelId = 'claude-sonnet-4-5'

const providerFor = (url: string, options: Partial<AiSdkProviderOptions> = {}): Provider =>
  createAiSdkProvider(createAnthropic({ apiKey: key, baseURL: `${url}/v1` })(modelId), {
    title: 'anthropic',
    keyName: 'ANTHROPIC_API_KEY',
    ...options,
  })

const ask = (text: string, changes: Partial<ModelRequest> = {}): ModelRequest =>
  aRequest({ model: `anthropic/${modelId}`, messages: [userSays(text)], ...changes })

const text = (text: string): Extract<AnthropicAnswer, { type: 'message' }> => ({
  type: 'message',
  content: [{ type: 'text', text }],
})

async function collect(provider: Provider, request: ModelRequest, signal = new AbortController().signal) {
  const parts: ModelPart[] = []
  for await (const part of provider.stream(request, { signal })) parts.push(part)
  return parts
}
/** Joins fragments of the same part: how many there are depends on how they arrive. */
function joinDeltas(parts: readonly ModelPart[]): readonly ModelPart[] {
  const joined: ModelPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isMore = part.type === 'delta' && last?.type === 'delta' && last.part === part.part
    if (isMore) joined[joined.length - 1] = { ...last, text: last.text + part.text }
    else joined.push(part)
  }
  return joined
}
const saidIn = (parts: readonly ModelPart[]): readonly SaidPart[] =>
  parts.flatMap((part) => (part.type === 'said' ? [part.said] : []))
const endOf = (parts: readonly ModelPart[]): ModelEnd | null => {
  const last = parts.at(-1)
  return last?.type === 'end' ? last.end : null
}

describeProvider('AI SDK', async () => {
  const server = await startAnthropicServer()
  const provider = providerFor(server.url)
  const scripted: Readonly<Record<string, AnthropicAnswer>> = {
    plain: {
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'text', text: 'Hello there.' },
      ],
    },
    long: { ...text('Wait for it'), after: { events: 4, detour: { type: 'hang' } } },
    failing: { type: 'drop' },
  }
  return {
    provider: {
      stream: (request, options) => {
        server.answer(scripted[request.system] ?? { type: 'hang' })
        return provider.stream(request, options)
      },
    },
    plain: ask('hello', { system: 'plain' }),
    long: ask('hello', { system: 'long' }),
    failing: ask('hello', { system: 'failing' }),
    close: () => server.close(),
  }
})

describe('AI SDK provider against Anthropic’s stream', () => {
  let server: AnthropicServer
  beforeEach(async () => {
    server = await startAnthropicServer()
  })
  afterEach(() => server.close())

  it('streams thinking, text and calls, and completes each part', async () => {
    server.answer({
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'hm so', signature: 'c2ln+/==' },
        { type: 'text', text: 'Look' },
        { type: 'tool_use', name: 'shell', input: { command: 'ls' } },
      ],
      usage: { input_tokens: 7, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
    })
    expect(joinDeltas(await collect(providerFor(server.url), ask('go')))).toEqual([
      { type: 'delta', part: 0, kind: 'thinking', text: 'hm so' },
      {
        type: 'said',
        part: 0,
        said: { type: 'thinking', text: 'hm so', meta: { anthropic: { signature: 'c2ln+/==' } } },
      },
      { type: 'delta', part: 1, kind: 'text', text: 'Look' },
      { type: 'said', part: 1, said: { type: 'text', text: 'Look' } },
      { type: 'delta', part: 2, kind: 'input', text: '{"command":"ls"}', tool: 'shell' },
      { type: 'said', part: 2, said: { type: 'call', tool: 'shell', args: { command: 'ls' } } },
      {
        type: 'end',
        end: {
          type: 'complete',
          finish: 'calls',
          usage: { input: 7, output: 5, cacheRead: 3, cacheWrite: 2, cost: null },
        },
      },
    ])
  })

  it('sends thinking back byte for byte', async () => {
    server.answer({
      type: 'message',
      content: [
        { type: 'thinking', thinking: 'é  \u{1f600}\n ', signature: 'sig+/=' },
        { type: 'redacted_thinking', data: 'opaque==' },
        { type: 'tool_use', name: 'shell', input: { command: 'ls' } },
      ],
    })
    server.answer(text('Done.'))
    const first = ask('go', { thinkingLevel: 'high' })
    const content = saidIn(await collect(providerFor(server.url), first)).map((part) =>
      part.type === 'call' ? { type: part.type, id: 'c3', tool: part.tool, args: part.args } : part,
    )
    const messages: readonly RequestMessage[] = [
      ...first.messages,
      { role: 'assistant', content },
      { role: 'tool', content: [{ id: 'c3', tool: 'shell', text: 'a.txt', isError: false }] },
    ]
    // Through JSON, like the log.
    const second = await collect(providerFor(server.url), { ...first, messages: JSON.parse(JSON.stringify(messages)) })
    expect(server.requests.map(({ complaint }) => complaint)).toEqual([null, null])
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        { role: 'user' },
        {
          content: [
            { type: 'thinking', thinking: 'é  \u{1f600}\n ', signature: 'sig+/=' },
            { type: 'redacted_thinking', data: 'opaque==' },
            { type: 'tool_use', id: 'c3' },
          ],
        },
        { content: [{ type: 'tool_result', tool_use_id: 'c3' }] },
      ],
    })
    expect(saidIn(second)).toEqual([{ type: 'text', text: 'Done.' }])
  })

  it.each([
    ['{"command": "l', 'the arguments are not valid JSON'],
    ['["ls"]', 'the arguments are not a JSON object'],
  ])('marks a call with the arguments %s as malformed', async (json, malformed) => {
    server.answer({ type: 'message', content: [{ type: 'raw_tool_use', name: 'shell', json }] })
    const parts = await collect(providerFor(server.url), ask('go'))
    expect(saidIn(parts)).toEqual([{ type: 'call', tool: 'shell', args: {}, malformed }])
    expect(endOf(parts)).toMatchObject({ type: 'complete', finish: 'calls' })
  })

  it.each([
    ['end_turn', 'stop'],
    ['max_tokens', 'length'],
    ['refusal', 'refused'],
    ['something_new', 'stop'],
  ])('maps the stop reason %s to %s', async (stopReason, finish) => {
    server.answer({ ...text('x'), stopReason })
    expect(endOf(await collect(providerFor(server.url), ask('go')))).toMatchObject({ type: 'complete', finish })
  })

  it('calculates the cost from the price', async () => {
    server.answer({
      type: 'message',
      content: [{ type: 'text', text: 'x' }],
      usage: {
        input_tokens: 1_000_000,
        output_tokens: 100_000,
        cache_read_input_tokens: 1_000_000,
        cache_creation_input_tokens: 0,
      },
    })
    const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }
    const end = endOf(await collect(providerFor(server.url, { price }), ask('go')))
    expect(end?.type === 'complete' && end.usage?.cost).toBeCloseTo(3 + 1.5 + 0.3)
  })

  it('sends the thinking level, the tools and the key', async () => {
    const tools = [{ name: 'shell', description: 'Runs', input: { type: 'object', properties: {} } }]
    for (const thinkingLevel of ['off', 'low', 'high'] as const) {
      server.answer(text('x'))
      await collect(providerFor(server.url), ask('go', { thinkingLevel, tools }))
    }
    const sent = server.requests.map(({ body }) => body)
    expect(sent).toMatchObject([
      {
        thinking: { type: 'disabled' },
        tools: [{ name: 'shell', description: 'Runs' }],
        system: [{ text: 'You are careful.' }],
      },
      { thinking: { type: 'enabled', budget_tokens: expect.any(Number) } },
      { thinking: { type: 'enabled', budget_tokens: expect.any(Number) } },
    ])
    expect(server.requests[0]?.headers['x-api-key']).toBe(key)
  })

  it('keeps the text of a cut stream and ends as unreachable', async () => {
    server.answer({
      type: 'message',
      content: [
        { type: 'text', text: 'Whole.' },
        { type: 'tool_use', name: 'shell', input: { command: 'ls' } },
      ],
      after: { events: 8, detour: { type: 'cut' } },
    })
    const parts = await collect(providerFor(server.url), ask('go'))
    expect(saidIn(parts)).toEqual([{ type: 'text', text: 'Whole.' }])
    expect(endOf(parts)).toMatchObject({ type: 'failed', fault: { kind: 'unreachable' }, retryable: true })
  })

  it('does not accept a body that ends early as an answer', async () => {
    server.answer({ ...text('Half of'), after: { events: 4, detour: { type: 'stop' } } })
    const parts = await collect(providerFor(server.url), ask('go'))
    expect(saidIn(parts)).toEqual([])
    expect(endOf(parts)).toMatchObject({ type: 'failed', fault: { kind: 'unreachable' }, retryable: true })
  })

  it('ends with the kind of an error event in the stream', async () => {
    const detour = { type: 'error', error: 'overloaded_error', message: 'Overloaded' } as const
    server.answer({ type: 'message', content: [{ type: 'text', text: 'Half of' }], after: { events: 4, detour } })
    const parts = await collect(providerFor(server.url), ask('go'))
    expect(endOf(parts)).toMatchObject({ type: 'failed', fault: { kind: 'rate_limited' }, retryable: true })
    expect(parts.filter(({ type }) => type === 'end')).toHaveLength(1)
  })

  it('ends after silence for longer than the timeout', async () => {
    server.answer({ type: 'hang' })
    const timers: (() => void)[] = []
    const clock = {
      now: () => 0,
      after: (_delayMs: number, call: () => void) => {
        timers.push(call)
        return () => undefined
      },
    }
    const parts = collect(providerFor(server.url, { clock, silenceMs: 60_000 }), ask('go'))
    await server.received(1)
    for (const fire of timers) fire()
    expect(await parts).toMatchObject([
      {
        type: 'end',
        end: {
          type: 'failed',
          fault: { kind: 'unreachable', message: expect.stringContaining('60 s') },
          retryable: true,
        },
      },
    ])
  })

  it('ends as aborted before the first fragment', async () => {
    server.answer({ type: 'hang' })
    const abort = new AbortController()
    const parts = collect(providerFor(server.url), ask('go'), abort.signal)
    await server.received(1)
    abort.abort()
    expect(await parts).toEqual([{ type: 'end', end: { type: 'aborted' } }])
  })

  it('disconnects when it is aborted', async () => {
    server.answer({ ...text('on and on'), after: { events: 4, detour: { type: 'hang' } } })
    const abort = new AbortController()
    for await (const _part of providerFor(server.url).stream(ask('go'), { signal: abort.signal })) abort.abort()
    await server.requests[0]?.closed // the service itself never disconnects
    expect(server.requests).toHaveLength(1)
  })

  it('sends one request only, whatever the answer', async () => {
    server.answer({ type: 'error', status: 500, message: 'broken' }, text('second'))
    expect(endOf(await collect(providerFor(server.url), ask('go')))).toMatchObject({ type: 'failed', retryable: true })
    expect(server.requests).toHaveLength(1)
  })
})
