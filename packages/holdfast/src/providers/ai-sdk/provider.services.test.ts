import type { ModelEnd, ModelPart, ModelRequest, Provider, RequestMessage, SaidPart } from '@holdfast/core/ports'
import type { AnyBlock } from '@holdfast/testkit'
import { describeProvider } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { requestFor, type Scripted, type ServiceUnderTest, services } from './testing/services.ts'

const named = services.map((service) => [service.name, service] as const)
const serviceOf = (name: string): ServiceUnderTest => {
  const service = services.find((one) => one.name === name)
  if (!service) throw new Error(`there is no ${name}`)
  return service
}

async function collect(provider: Provider, request: ModelRequest) {
  const parts: ModelPart[] = []
  for await (const part of provider.stream(request, { signal: new AbortController().signal })) parts.push(part)
  return parts
}
const saidIn = (parts: readonly ModelPart[]): readonly SaidPart[] =>
  parts.flatMap((part) => (part.type === 'said' ? [part.said] : []))
const endOf = (parts: readonly ModelPart[]): ModelEnd | null => {
  const last = parts.at(-1)
  return last?.type === 'end' ? last.end : null
}
/** Adds an answer and the results of its calls to the history, as the log does. */
function withRound(request: ModelRequest, answer: readonly SaidPart[]): ModelRequest {
  const content = answer.map((part, index) => (part.type === 'call' ? { ...part, id: `c${index}` } : part))
  const results = content.flatMap((part) =>
    part.type === 'call' ? [{ id: part.id, tool: part.tool, text: 'ok', isError: false }] : [],
  )
  const messages: readonly RequestMessage[] = [
    ...request.messages,
    { role: 'assistant', content },
    { role: 'tool', content: results },
  ]
  return { ...request, messages: JSON.parse(JSON.stringify(messages)) }
}

const long: readonly AnyBlock[] = [{ type: 'say', text: 'Wait for it' }]

describe.each(named)('%s', (_name, service) => {
  describeProvider(service.name, async () => {
    const server = await service.start()
    const provider = service.provider(server.url)
    const scripted: Readonly<Record<string, Scripted>> = {
      plain: {
        blocks: [
          { type: 'think', text: 'Hm.', opaque: 's' },
          { type: 'say', text: 'Hello there.' },
        ],
      },
      long: { blocks: long, after: { events: service.firstWords, detour: { type: 'hang' } } },
    }
    return {
      provider: {
        stream: (request, options) => {
          const script = scripted[request.system]
          if (script) server.says(script)
          else server.drops()
          return provider.stream(request, options)
        },
      },
      plain: requestFor(service, { system: 'plain' }),
      long: requestFor(service, { system: 'long' }),
      failing: requestFor(service, { system: 'failing' }),
      close: () => server.close(),
    }
  })
})

describe.each(named)('the stream of %s', (name, service) => {
  let server: Awaited<ReturnType<ServiceUnderTest['start']>>
  beforeEach(async () => {
    server = await service.start()
  })
  afterEach(() => server.close())
  const thinks = name !== 'openai-chat'

  const round: readonly AnyBlock[] = [
    { type: 'think', text: 'é  \u{1f600}\n ', opaque: 'opaque+/= 1' },
    { type: 'say', text: 'Look:', opaque: 'opaque+/= 2' },
    { type: 'call', tool: 'shell', args: { command: 'ls' }, opaque: 'opaque+/= 3' },
    { type: 'call', tool: 'shell', args: {} },
  ]

  it('completes each part in order, equal to its deltas', async () => {
    server.says({ blocks: round })
    const parts = await collect(service.provider(server.url), requestFor(service, { thinkingLevel: 'high' }))
    expect(saidIn(parts)).toMatchObject([
      ...(thinks ? [{ type: 'thinking', text: 'é  \u{1f600}\n ' }] : []),
      { type: 'text', text: 'Look:' },
      { type: 'call', tool: 'shell', args: { command: 'ls' } },
      { type: 'call', tool: 'shell', args: {} },
    ])
    expect(endOf(parts)).toMatchObject({ type: 'complete', finish: 'calls', usage: { input: 25, output: 15 } })
  })

  it('gets its metadata back byte for byte', async () => {
    server.says({ blocks: round })
    const first = requestFor(service, { thinkingLevel: 'high' })
    const second = withRound(first, saidIn(await collect(service.provider(server.url), first)))
    server.says({ blocks: [{ type: 'say', text: 'Done.' }] })
    expect(endOf(await collect(service.provider(server.url), second))).toMatchObject({ type: 'complete' })
    expect(server.requests.map(({ complaint }) => complaint)).toEqual([null, null])

    const sent = JSON.stringify(server.requests[1]?.body)
    const wanted = { anthropic: [1], 'openai-chat': [], 'openai-responses': [1], gemini: [1, 2, 3] }[name]
    expect([1, 2, 3].filter((n) => sent.includes(`opaque+/= ${n}`))).toEqual(wanted)
    expect(sent).not.toContain('holdfast')
  })

  it('keeps the text of a cut stream and ends as unreachable', async () => {
    server.says({ blocks: long, after: { events: service.firstWords, detour: { type: 'cut' } } })
    const parts = await collect(service.provider(server.url), requestFor(service))
    expect(parts[0]).toMatchObject({ type: 'delta', kind: 'text', text: 'Wait f' })
    expect(saidIn(parts)).toEqual([])
    expect(endOf(parts)).toMatchObject({ type: 'failed', fault: { kind: 'unreachable' }, retryable: true })
  })

  it('does not accept a body that ends early as an answer', async () => {
    server.says({ blocks: long, after: { events: service.firstWords, detour: { type: 'stop' } } })
    const parts = await collect(service.provider(server.url), requestFor(service))
    expect(endOf(parts)).toMatchObject({ type: 'failed', retryable: true })
  })

  it('ends as failed at an error event', async () => {
    const detour = { type: 'error', error: 'server_error', message: 'It broke.' } as const
    server.says({ blocks: long, after: { events: service.firstWords, detour } })
    const parts = await collect(service.provider(server.url), requestFor(service))
    expect(endOf(parts)).toMatchObject({ type: 'failed' })
    expect(parts.filter(({ type }) => type === 'end')).toHaveLength(1)
  })

  it('quotes the service if it refuses the history', async () => {
    const broken = requestFor(service, {
      messages: [
        ...requestFor(service).messages,
        { role: 'tool', content: [{ id: 'c9', tool: 'x', text: 'ok', isError: false }] },
      ],
    })
    const parts = await collect(service.provider(server.url), broken)
    const complaint = server.requests[0]?.complaint ?? 'nothing'
    expect(endOf(parts)).toMatchObject({
      type: 'failed',
      retryable: false,
      fault: { detail: expect.stringContaining('400') },
    })
    expect(JSON.stringify(endOf(parts))).toContain(JSON.stringify(complaint.slice(0, 40)).slice(1, -1))
  })

  it('converts tool names for the service and back', async () => {
    const tool = (name: string) => ({ name, description: '', input: { type: 'object', properties: {} } })
    const request = requestFor(service, { tools: ['3d.view', '3d_view', '_3d_view'].map(tool) })
    const spelled = name === 'gemini' ? '_3d_view_2' : '3d_view_2'
    server.says({ blocks: [{ type: 'call', tool: spelled, args: {}, opaque: 's' }] })
    const answer = saidIn(await collect(service.provider(server.url), request))
    expect(answer).toMatchObject([{ type: 'call', tool: '3d.view' }])
    server.says({ blocks: [{ type: 'say', text: 'ok' }] })
    await collect(service.provider(server.url), withRound(request, answer))
    expect(server.requests.map(({ complaint }) => complaint)).toEqual([null, null])
  })
})

describe('OpenAI’s Responses', () => {
  it('never lets the service store anything', async () => {
    const service = serviceOf('openai-responses')
    const server = await service.start()
    server.says({ blocks: long })
    const providerOptions = { openai: { store: true, serviceTier: 'flex' } }
    await collect(service.provider(server.url), requestFor(service, { thinkingLevel: 'low', providerOptions }))
    expect(server.requests[0]?.body).toMatchObject({
      store: false,
      include: ['reasoning.encrypted_content'],
      service_tier: 'flex',
      reasoning: { effort: 'low' },
    })
    await server.close()
  })

  it('sends reasoning of several parts as one item', async () => {
    const service = serviceOf('openai-responses')
    const server = await service.start()
    server.says({
      blocks: [
        { type: 'think', text: 'one|two|three', opaque: 'enc' },
        { type: 'call', tool: 'shell', args: {} },
      ],
    })
    const first = requestFor(service, { thinkingLevel: 'high' })
    const answer = saidIn(await collect(service.provider(server.url), first))
    expect(answer.map(({ type }) => type)).toEqual(['thinking', 'thinking', 'thinking', 'call'])
    server.says({ blocks: long })
    await collect(service.provider(server.url), withRound(first, answer))
    expect(server.requests[1]?.body).toMatchObject({
      input: [
        {},
        {},
        {
          type: 'reasoning',
          encrypted_content: 'enc',
          summary: [{ text: 'one' }, { text: 'two' }, { text: 'three' }],
        },
        { type: 'function_call', call_id: 'c3' },
        { type: 'function_call_output', call_id: 'c3' },
      ],
    })
    await server.close()
  })
})

describe('another model of the same service', () => {
  it.each([
    ['openai-responses', 'reasoning'],
    ['gemini', 'opaque'],
  ])('of %s does not get metadata of the first', async (name, mark) => {
    const service = serviceOf(name)
    const server = await service.start()
    server.says({
      blocks: [
        { type: 'think', text: 'hm', opaque: 'opaque 1' },
        { type: 'call', tool: 'shell', args: {}, opaque: 'opaque 2' },
      ],
    })
    const first = requestFor(service, { thinkingLevel: 'off' })
    const second = withRound(first, saidIn(await collect(service.provider(server.url), first)))
    for (const model of service.others) {
      server.says({ blocks: long })
      await collect(service.provider(server.url, model), { ...second, model })
    }
    for (const { complaint, body } of server.requests.slice(1)) {
      expect(complaint).toBeNull()
      const { input, contents } = body as { input?: unknown; contents?: unknown } // the history of either API
      expect(JSON.stringify(input ?? contents)).not.toContain(mark)
    }
    await server.close()
  })
})

describe('Anthropic', () => {
  it('is not asked to think in a round that began without thinking', async () => {
    const service = serviceOf('anthropic')
    const server = await service.start()
    const request = requestFor(service, { thinkingLevel: 'high' })
    const call: SaidPart = { type: 'call', tool: 'shell', args: {} }
    const thought: SaidPart = { type: 'thinking', text: 'hm', meta: { anthropic: { signature: 's' } } }
    server.says({
      blocks: [
        { type: 'think', text: 'hm', opaque: 's' },
        { type: 'say', text: 'x' },
      ],
    })
    await collect(service.provider(server.url), request)
    for (const answer of [[call], [thought, call]]) {
      server.says({ blocks: long })
      await collect(service.provider(server.url), withRound(request, answer))
    }
    expect(server.requests.map(({ complaint }) => complaint)).toEqual([null, null, null])
    expect(server.requests.slice(1).map(({ body }) => (body as { thinking: { type: string } }).thinking.type)).toEqual([
      'disabled',
      'enabled',
    ])
    await server.close()
  })
})
