import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Tool } from '@holdfast/core/ports'
import { createToolRun } from '@holdfast/testkit/contracts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKnownOffers, hashTool } from './known-offers.ts'
import { createMcpServers, type McpServers } from './mcp-servers.ts'
import { createSignIns } from './sign-in/sign-ins.ts'

const fixture = new URL('./hostile-server.fixture.ts', import.meta.url).pathname
let home: string
let servers: McpServers

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-mcp-hostile-'))
  servers = createMcpServers({
    userFile: join(home, 'mcp.json'),
    userDir: home,
    environment: process.env,
    records: null,
    passed: { PATH: process.env['PATH'] ?? '' },
    findWorkspace: async () => home,
    areTrusted: async () => [],
    credentials: createSignIns(join(home, 'sign-in')),
    known: createKnownOffers(join(home, 'known'), ({ cause }) => {
      throw cause
    }),
  })
})
afterEach(async () => {
  await servers.close()
  await rm(home, { recursive: true })
})

/** Configures one server, and returns its tools. */
async function configure(entry: object): Promise<readonly Tool[]> {
  await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { bad: entry } }))
  await servers.test(home, 'bad', new AbortController().signal)
  return (await servers.tools(home)).filter(({ listedBy }) => listedBy !== undefined)
}
const behaving = (behaviour: string) => configure({ command: process.execPath, args: [fixture, behaviour] })
const callOf = async (tools: readonly Tool[], name: string) => {
  const { run } = createToolRun({ signal: new AbortController().signal })
  return tools.find(({ schema }) => schema.name === name)?.run({}, { workdir: home }, run)
}
const listed = async () => (await servers.list(home)).servers[0]

describe('a hostile server', () => {
  it('cannot keep the process busy with a pattern that takes for ever to check', async () => {
    const result = await callOf(await behaving('slow-pattern'), 'mcp__bad__hello')
    expect(result).toMatchObject({ type: 'ok', output: { text: 'hello' } })
  })

  it('that asks without end and reads no answer is cut off, and closes at once', async () => {
    const result = await callOf(await behaving('asking'), 'mcp__bad__ask')
    expect(result).toMatchObject({ type: 'failed', output: { text: expect.stringContaining('does not read') } })
    expect(await listed()).toMatchObject({ state: 'failed', why: 'it does not read what it is sent' })
  })

  it('that prints garbage without end is cut off, at its start and in a call', async () => {
    expect(await behaving('babbling')).toEqual([])
    expect(await listed()).toMatchObject({ state: 'failed', why: expect.stringMatching(/not of the protocol/) })
    const result = await callOf(await behaving('calls'), 'mcp__bad__babble')
    expect(result).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(/not of the protocol/) } })
  })

  it('that hangs in a call fails it after its time limit, and starts anew for the next one', async () => {
    const tools = await configure({ command: process.execPath, args: [fixture, 'calls'], timeout: 300 })
    const result = await callOf(tools, 'mcp__bad__hang')
    expect(result).toMatchObject({ type: 'failed', output: { text: expect.stringMatching(/within 0\.3 seconds/) } })
  })

  it('that says nothing at its start is left when the call that lists its tools is stopped', async () => {
    await writeFile(
      join(home, 'mcp.json'),
      JSON.stringify({ mcpServers: { bad: { command: process.execPath, args: [fixture, 'mute'] } } }),
    )
    const [listing] = await servers.tools(home)
    const stop = new AbortController()
    const { run } = createToolRun({ signal: stop.signal })
    const calling = listing?.run({}, { workdir: home }, run)
    await expect.poll(async () => (await listed())?.state).toBe('starting')
    stop.abort(new Error('stopped'))
    await expect(calling).rejects.toThrow('stopped')
  })

  it.each([
    ['endless', 50],
    ['huge', 512],
  ])('with a list that is %s gives the beginning of it, and says so', async (behaviour, count) => {
    expect(await behaving(behaviour)).toHaveLength(count)
    expect((await listed())?.problems).toContain('It offers more than can be used; the rest is left out.')
    for (const name of await readdir(join(home, 'known')))
      expect((await stat(join(home, 'known', name))).size).toBeLessThan(6 * 1024 * 1024)
  })

  it('that lists a name twice gives one tool: providers refuse a request with both', async () => {
    const tools = await behaving('twice')
    expect(tools.map(({ schema }) => [schema.name, schema.description])).toEqual([['mcp__bad__hello', 'the first']])
  })

  it('that does not say what it offers is listed with the reason, which is not long', async () => {
    expect(await behaving('unlisted')).toEqual([])
    const [problem = ''] = (await listed())?.problems ?? []
    expect(problem).toContain('It did not say what it offers now. The server bad failed:')
    expect(problem.length).toBeLessThan(1200)
  })
})

describe('what is remembered of a tool', () => {
  const tool = { name: 'a', inputSchema: { type: 'object' as const, properties: {} } }

  it('is everything that the server says of it, in any order', () => {
    const { name, inputSchema } = tool
    expect(hashTool({ inputSchema: { properties: {}, type: 'object' }, name })).toBe(hashTool({ name, inputSchema }))
    expect(hashTool({ ...tool, outputSchema: { type: 'object' } })).not.toBe(hashTool(tool))
    expect(hashTool({ ...tool, title: 'A' })).not.toBe(hashTool(tool))
  })

  it('does not grow without end: a tool beyond the limit counts as changed', async () => {
    const known = createKnownOffers(join(home, 'many'), () => undefined)
    const offer = { prompts: [], hasResources: false, about: null, isCut: false }
    const many = (from: number) => Array.from({ length: 3000 }, (_, index) => ({ ...tool, name: `t${from + index}` }))
    await known.save('key', { ...offer, tools: many(0) })
    const { allowed } = await known.save('key', { ...offer, tools: many(3000) })
    expect(allowed.size).toBe(5000)
    expect(allowed.has('t0') && allowed.has('t4999') && !allowed.has('t5000')).toBe(true)
  })
})

describe('a hostile server with a URL', () => {
  let http: Server
  afterEach(() => {
    http.closeAllConnections()
    http.close()
  })

  type Asked = { readonly id: number; readonly method?: string }
  /** Starts a server with one tool, whose calls are answered by `answer`. */
  async function start(answer: (response: ServerResponse, id: number) => void): Promise<readonly Tool[]> {
    const results: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: '2025-06-18',
        serverInfo: { name: 'test', version: '1' },
        capabilities: { tools: {} },
      },
      'tools/list': { tools: [{ name: 'go', inputSchema: { type: 'object', properties: {} } }] },
    }
    http = createServer(async (request, response) => {
      const { id, method = '' }: Asked = request.method === 'POST' ? JSON.parse(await textOf(request)) : { id: 0 }
      if (method === 'tools/call') return answer(response, id)
      const result = results[method]
      if (!result) return response.writeHead(id === undefined ? 202 : 405).end()
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    }).listen(0, '127.0.0.1')
    await once(http, 'listening')
    // A listening TCP server has an address of this type.
    return configure({ url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` })
  }
  const json = { 'content-type': 'application/json' }
  const stream = { 'content-type': 'text/event-stream' }
  const says = (text: string) => ({ type: 'failed', output: { text: expect.stringContaining(text) } })

  it('that sends what would hold up all sessions is cut off', async () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const tools = await start((response, id) =>
      response
        .writeHead(200, json)
        .end(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"structuredContent":${deep}}}`),
    )
    expect(await callOf(tools, 'mcp__bad__go')).toMatchObject(says('nested deeper'))
  })

  it('that sends one message without end fails the call at once', async () => {
    const tools = await start((response) => {
      response.writeHead(200, stream)
      const flood = () => {
        while (response.write('x'.repeat(65_536)));
        response.once('drain', flood)
      }
      flood()
    })
    expect(await callOf(tools, 'mcp__bad__go')).toMatchObject(says('sent a message of more than'))
  })

  it('may send any number of short messages, with any kind of line end', async () => {
    const note = {
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'info', data: 'p'.repeat(50_000) },
    }
    const tools = await start(async (response, id) => {
      response.writeHead(200, stream)
      for (let sent = 0; sent < 100; sent++)
        if (!response.write(`data: ${JSON.stringify(note)}\r\n\r\n`)) await once(response, 'drain')
      const result = { content: [{ type: 'text', text: 'done' }] }
      response.end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\r\n\r\n`)
    })
    expect(await callOf(tools, 'mcp__bad__go')).toMatchObject({ type: 'ok', output: { text: 'done' } })
  })

  it('that asks without end is cut off', async () => {
    const tools = await start((response) => {
      response.writeHead(200, stream)
      let asked = 0
      const flood = () => {
        while (response.write(`data: {"jsonrpc":"2.0","id":"ping-${++asked}","method":"ping"}\n\n`));
        response.once('drain', flood)
      }
      flood()
    })
    expect(await callOf(tools, 'mcp__bad__go')).toMatchObject(says('does not read'))
  })
})

async function textOf(request: AsyncIterable<Buffer>): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
