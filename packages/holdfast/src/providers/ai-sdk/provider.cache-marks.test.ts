import { createAnthropic } from '@ai-sdk/anthropic'
import type { ModelPart, ModelRequest, RequestMessage } from '@holdfast/core/ports'
import { type AnthropicServer, aRequest, startAnthropicServer, userSays } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createAiSdkProvider } from './provider.ts'
import { requestFor, services } from './testing/services.ts'

const tool = (name: string) => ({ name, description: 'Does it.', input: { type: 'object', properties: {} } })
const tools = [tool('shell'), tool('read_file')]
const calls = (...ids: readonly string[]): readonly RequestMessage[] => [
  { role: 'assistant', content: ids.map((id) => ({ type: 'call', id, tool: 'shell', args: {} })) },
  { role: 'tool', content: ids.map((id) => ({ id, tool: 'shell', text: `result of ${id}`, isError: false })) },
]
const says = (text: string): RequestMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })

/** A growing session: what each request adds. */
const growth: readonly (readonly RequestMessage[])[] = [
  [userSays('go')],
  calls('c1', 'c2'),
  calls('c3'),
  [says('Done.'), userSays('and now?')],
  [...calls('c4'), userSays('be quick')],
  calls(...Array.from({ length: 30 }, (_, index) => `d${index}`)),
]

describe('cache marks', () => {
  let server: AnthropicServer
  beforeEach(async () => {
    server = await startAnthropicServer()
  })
  afterEach(() => server.close())

  async function ask(request: ModelRequest) {
    server.answer({ type: 'message', content: [{ type: 'text', text: 'ok' }] })
    const model = createAnthropic({ apiKey: 'key', baseURL: `${server.url}/v1` })('claude-sonnet-4-5')
    const parts: ModelPart[] = []
    const { signal } = new AbortController()
    for await (const part of createAiSdkProvider(model, { title: 'Anthropic' }).stream(request, { signal }))
      parts.push(part)
    const last = parts.at(-1)
    if (last?.type !== 'end' || last.end.type !== 'complete') throw new Error(JSON.stringify(last))
    return last.end.usage ?? expect.fail('it was not counted')
  }

  const marksIn = (body: unknown) => JSON.stringify(body).split('"cache_control"').length - 1
  const requests = growth.map((_added, index) => aRequest({ tools, messages: growth.slice(0, index + 1).flat() }))

  it('let each request read what the previous one cached', async () => {
    let before = 0
    for (const request of requests) {
      const { cacheRead, cacheWrite } = await ask(request)
      expect(cacheRead).toBe(before)
      expect(cacheWrite).toBeGreaterThan(0)
      before = cacheRead + cacheWrite
    }
    expect(server.requests.map(({ complaint }) => complaint)).toEqual(requests.map(() => null))
  })

  it('are the only change to earlier messages', async () => {
    for (const request of requests) await ask(request)
    const unmarked = server.requests.map(({ body }) => {
      const { messages, ...rest } = JSON.parse(
        JSON.stringify(body, (key, value) => (key === 'cache_control' ? undefined : value)),
      )
      return { rest: JSON.stringify(rest), blocks: messages.flatMap(({ content }: { content: unknown[] }) => content) }
    })
    for (const [index, { rest, blocks }] of unmarked.entries()) {
      const next = unmarked[index + 1]
      if (next === undefined) break
      expect(next.rest).toBe(rest)
      expect(JSON.stringify(next.blocks.slice(0, blocks.length))).toBe(JSON.stringify(blocks))
    }
  })

  it('are the same for the same request', async () => {
    const request = requests[3] ?? aRequest()
    await ask(request)
    const again = await ask(request)
    expect(JSON.stringify(server.requests[1]?.body)).toBe(JSON.stringify(server.requests[0]?.body))
    expect(again).toMatchObject({ cacheWrite: 0 })
  })

  it('follow the system prompt or the tools, and are three at most', async () => {
    for (const request of requests) await ask(request)
    expect(server.requests.map(({ body }) => marksIn(body))).toEqual([2, 3, 3, 3, 3, 3])
    await ask(aRequest({ tools, system: '' }))
    const mark = { type: 'ephemeral' }
    expect(server.requests.at(-1)?.body).toMatchObject({ tools: [{}, { cache_control: mark }] })
    expect(server.requests[0]?.body).toMatchObject({ system: [{ cache_control: mark }] })
  })

  it('are not sent with a summary request, which is not repeated', async () => {
    await ask(aRequest({ tools, purpose: 'summary' }))
    expect(marksIn(server.requests[0]?.body)).toBe(0)
  })

  it('are not sent to services that cache by themselves', async () => {
    for (const service of services.filter(({ name }) => name !== 'anthropic')) {
      const other = await service.start()
      other.says({ blocks: [{ type: 'say', text: 'ok' }] })
      const { signal } = new AbortController()
      for await (const _part of service.provider(other.url).stream(requestFor(service, { tools }), { signal }));
      expect(marksIn(other.requests[0]?.body)).toBe(0)
      expect(JSON.stringify(other.requests[0]?.body)).not.toContain('ephemeral')
      await other.close()
    }
  })
})
