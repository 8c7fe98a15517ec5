import { once } from 'node:events'
import { ModelList } from '@holdfast/protocol'
import { createVirtualClock } from '@holdfast/testkit'
import { describe, expect, it, vi } from 'vitest'
import { createModels, type ModelsDeps } from '../models.ts'
import { resolveServices } from '../services/registry.ts'
import { type LocalServer, replyJson, startLocalServer } from '../testing/local-server.ts'
import { discoveryMsMax } from './local-models.ts'

const shown: { readonly [model: string]: object } = {
  'coder:7b': {
    capabilities: ['completion', 'tools', 'thinking'],
    parameters: 'temperature 0.7\nnum_ctx 8192',
    model_info: { 'general.architecture': 'x', 'x.context_length': 131072 },
  },
  'seer:latest': { capabilities: ['completion', 'vision'], model_info: { 'y.context_length': 32768 } },
  'embed:latest': { capabilities: ['embedding'] },
  'far:cloud': { capabilities: ['completion', 'tools'], model_info: {} },
}

const startOllama = (answersOf: (path: string) => boolean = () => true): Promise<LocalServer> =>
  startLocalServer(({ path, body }, reply) => {
    if (!answersOf(path)) return
    if (path === '/api/ps') return replyJson(reply, { models: [{ name: 'seer:latest', context_length: 4096 }] })
    if (path === '/api/show') return replyJson(reply, shown[(body as { model: string }).model] ?? {})
    const models = Object.keys(shown).map((name) => ({
      name,
      ...(name === 'far:cloud' && { remote_host: 'https://elsewhere.example' }),
    }))
    if (path === '/api/tags') return replyJson(reply, { models })
    replyJson(reply, {}, 404)
  })

/** Queries only the test’s own server. */
const unreachable = { lmstudio: { baseUrl: 'http://10.255.255.1' } }
/** A long limit, so that a busy machine does not matter. */
const patientMs = 10_000
type Given = Parameters<typeof resolveServices>[0]
const open = (environment: { [name: string]: string }, given: Given = {}, more: Partial<ModelsDeps> = {}) => {
  const services = resolveServices({ ...unreachable, ...given })
  if (!services.ok) throw new Error(services.fault.message)
  return createModels({ environment, services: services.value, discoveryMs: patientMs, ...more })
}

describe('a local Ollama', () => {
  it('is discovered, and its models are listed with their facts', async () => {
    await using server = await startOllama()
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` })
    const listed = (await models.list()).models.filter(({ model }) => model.startsWith('ollama/'))
    const unknown = { title: null, outputTokens: null, unusable: null }
    const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    expect(listed).toEqual([
      {
        ...unknown,
        model: 'ollama/coder:7b',
        contextTokens: 8192,
        price: free,
        takes: [],
        tools: true,
        thinkingLevels: ['off', 'low', 'medium', 'high'],
        isDefault: true,
      },
      {
        ...unknown,
        model: 'ollama/seer:latest',
        contextTokens: 4096,
        price: free,
        takes: ['image/png', 'image/jpeg'],
        tools: false,
        thinkingLevels: ['off'],
      },
      // A remote model has no known price.
      {
        ...unknown,
        model: 'ollama/far:cloud',
        contextTokens: null,
        price: null,
        takes: [],
        tools: true,
        thinkingLevels: ['off'],
      },
    ])
    expect(models.find('ollama/coder:7b')).toMatchObject({ type: 'ready', contextTokens: 8192 })
    expect(models.defaultModel()).toBe('ollama/coder:7b')
    expect(server.asked.flatMap(({ headers }) => headers.authorization ?? [])).toEqual([])
  })

  it('is the default only after discovery and without any key', async () => {
    await using server = await startOllama()
    const environment: { [name: string]: string } = { OLLAMA_HOST: `127.0.0.1:${server.port}` }
    const models = open(environment)
    expect(models.defaultModel()).toBe('demo/agent')
    await models.refresh()
    expect(models.defaultModel()).toBe('ollama/coder:7b')
    environment['GROQ_API_KEY'] = 'key'
    expect(models.defaultModel()).toMatch(/^groq\//)
  })

  it('without model details is listed too', async () => {
    await using server = await startOllama((path) => path === '/api/tags')
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` }, {}, { discoveryMs: 2000 })
    const listed = (await models.list()).models.filter(({ model }) => model.startsWith('ollama/'))
    expect(listed.map(({ model, contextTokens, tools }) => [model, contextTokens, tools])).toEqual([
      ['ollama/coder:7b', null, null],
      ['ollama/seer:latest', null, null],
      ['ollama/embed:latest', null, null],
      ['ollama/far:cloud', null, null],
    ])
  })

  it('with invalid facts or names is used without them', async () => {
    const names = ['\u001b]0;owned\u0007evil', 'rtl\u202egpj', 'tag\u{e0041}', 'nl\nline', 'ok:1']
    await using server = await startLocalServer(({ path }, reply) => {
      if (path === '/api/tags') return replyJson(reply, { models: names.map((name) => ({ name })) })
      if (path === '/api/ps') return replyJson(reply, { models: [{ name: 'other', context_length: 'many' }] })
      replyJson(reply, {
        capabilities: ['completion', 'tools'],
        parameters: 'num_ctx 99999999999999999999999',
        model_info: { 'a.context_length': 1e308 },
      })
    })
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` })
    const list = ModelList.parse(await models.list())
    expect(list.models.filter(({ model }) => model.startsWith('ollama/'))).toMatchObject([
      { model: 'ollama/ok:1', contextTokens: null, tools: true, isDefault: true },
    ])
    expect(models.find('ollama/ok:1')).toMatchObject({ type: 'ready', contextTokens: undefined })
  })

  it('that never answers delays a list by the limit only', async () => {
    await using server = await startOllama(() => false)
    const clock = createVirtualClock()
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` }, {}, { discoveryMs: discoveryMsMax, clock })
    const listing = models.list()
    await vi.waitFor(() => expect(server.asked).not.toEqual([]))
    clock.advance(discoveryMsMax)
    const { models: listed, providers } = await listing
    expect(discoveryMsMax).toBeLessThan(300)
    expect(clock.nextMs()).toBeNull()
    expect(listed.filter(({ model }) => model.startsWith('ollama/'))).toEqual([])
    expect(providers.find(({ provider }) => provider === 'ollama')).toMatchObject({
      unusable: expect.stringContaining(`No Ollama answers at http://127.0.0.1:${server.port}`),
    })
  })

  it('does not delay find and close during discovery', async () => {
    await using server = await startOllama(() => false)
    const clock = createVirtualClock() // the clock never advances, so a wait would never end
    const choice = { model: 'demo/agent' }
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` }, {}, { clock, choice })
    const looking = models.discover()
    expect(models.find('ollama/anything')).toMatchObject({ type: 'ready' })
    expect(await models.fallback('demo/agent', [])).toBeNull()
    await models.settleDefault()
    models.close()
    await looking
  })

  it('is waited for if it may be the default', async () => {
    await using server = await startOllama()
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` })
    await models.settleDefault()
    expect(models.defaultModel()).toBe('ollama/coder:7b')
    await models.settleDefault()
    expect(server.asked.filter(({ path }) => path === '/api/tags')).toHaveLength(1)
  })

  it('started since is found before a fallback is chosen', async () => {
    await using server = await startOllama()
    const choice = { fallbacks: ['ollama/coder:7b', 'demo/agent'] }
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` }, {}, { choice })
    expect(await models.fallback('anthropic/claude', [])).toBe('ollama/coder:7b')
    expect(await models.fallback('anthropic/claude', ['ollama/coder:7b'])).toBe('demo/agent')
    expect(server.asked.filter(({ path }) => path === '/api/tags')).toHaveLength(1)
  })

  it('notifies only when it appears or disappears', async () => {
    const server = await startOllama()
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` })
    let changes = 0
    models.onChanged(() => changes++)
    await models.discover()
    expect(changes).toBe(1)
    await models.list()
    expect(changes).toBe(1)
    await server[Symbol.asyncDispose]()
    await models.list()
    expect(changes).toBe(2)
    await models.refresh()
    expect(changes).toBe(3) // a refresh always notifies: keys may have changed
  })

  it('is queried once for concurrent callers', async () => {
    await using server = await startOllama()
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` })
    await Promise.all([models.list(), models.list(), models.refresh(), models.discover()])
    expect(server.asked.filter(({ path }) => path === '/api/tags')).toHaveLength(1)
  })

  it.each([
    ['something else', (reply: Parameters<typeof replyJson>[0]) => replyJson(reply, { hello: 'world' })],
    ['a page', (reply: Parameters<typeof replyJson>[0]) => void reply.end('<html>')],
    ['an error', (reply: Parameters<typeof replyJson>[0]) => replyJson(reply, {}, 500)],
    [
      'another address',
      (reply: Parameters<typeof replyJson>[0]) => void reply.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    ],
  ])('that answers with %s is ignored', async (_, answer) => {
    await using server = await startLocalServer((_asked, reply) => answer(reply))
    const models = open({ OLLAMA_HOST: `127.0.0.1:${server.port}` })
    await models.discover()
    expect(models.defaultModel()).toBe('demo/agent')
  })
})

describe('a remote server', () => {
  it('is never queried, whatever a variable names', async () => {
    const elsewhere = { OLLAMA_BASE_URL: 'http://192.0.2.1:11434', OLLAMA_HOST: '192.0.2.1' }
    const models = open(elsewhere, {}, { clock: createVirtualClock() })
    const { providers } = await models.list() // does not wait: the clock never advances
    expect(providers.find(({ provider }) => provider === 'ollama')).toMatchObject({
      endpoint: 'http://192.0.2.1:11434/v1',
      unusable: null,
    })
  })

  it('queries nothing if discovery is off', async () => {
    await using server = await startOllama()
    const models = createModels({ environment: { OLLAMA_HOST: `127.0.0.1:${server.port}` } })
    await models.list()
    expect(server.asked).toEqual([])
  })
})

describe('another local server', () => {
  it.each(['vllm', 'mybox'])('lists its models as %s', async (name) => {
    await using server = await startLocalServer((_, reply) =>
      replyJson(reply, {
        data: [{ id: 'org/model', max_model_len: 16384 }, { id: 'bare' }, { id: 'odd', max_model_len: 1e23 }],
      }),
    )
    const models = open({}, { [name]: { baseUrl: server.url }, ollama: { baseUrl: 'http://10.255.255.1' } })
    const listed = (await models.list()).models.filter(({ model }) => model.startsWith(`${name}/`))
    expect(listed.map(({ model, contextTokens, price }) => [model, contextTokens, price])).toEqual([
      [`${name}/org/model`, 16384, null],
      [`${name}/bare`, null, null],
      [`${name}/odd`, null, null],
    ])
    expect(server.asked.map(({ path }) => path)).toEqual(['/v1/models'])
  })

  it.each([401, 403])('that needs a key (HTTP %i) is online without models, and gets no key', async (status) => {
    await using server = await startLocalServer((_, reply) => replyJson(reply, { error: 'no key' }, status))
    const choice = { rotation: [{ model: 'vllm/one' }], fallbacks: ['vllm/one'] }
    const away = { ollama: { baseUrl: 'http://10.255.255.1' }, vllm: { baseUrl: server.url } }
    const models = open({ VLLM_API_KEY: 'key-of-vllm' }, away, { choice })
    const { providers } = await models.list()
    expect(providers.find(({ provider }) => provider === 'vllm')).toMatchObject({
      unusable: null,
      keyFrom: { type: 'variable', name: 'VLLM_API_KEY' },
    })
    expect(models.rotation()).toEqual(choice.rotation)
    expect(await models.fallback('demo/agent', [])).toBe('vllm/one')
    expect(server.asked.flatMap(({ headers }) => headers.authorization ?? [])).toEqual([])
  })

  it('is not queried at a common port, and says how to set it up', async () => {
    const models = open({}, { ollama: { baseUrl: 'http://10.255.255.1' } })
    const { providers } = await models.list()
    expect(providers.find(({ provider }) => provider === 'vllm')).toMatchObject({
      unusable: 'vLLM is not set up. Set VLLM_BASE_URL to its address, such as http://127.0.0.1:8000/v1.',
    })
  })

  it('that stopped is no fallback any more', async () => {
    const server = await startOllama()
    const services = resolveServices({ ...unreachable, ollama: { baseUrl: server.url } })
    if (!services.ok) throw new Error(services.fault.message)
    const choice = { rotation: [{ model: 'ollama/coder:7b' }, { model: 'demo/agent' }], fallbacks: ['ollama/coder:7b'] }
    const models = createModels({ environment: {}, services: services.value, choice, discoveryMs: patientMs })
    await models.discover()
    expect(models.rotation()).toHaveLength(2)
    expect(await models.fallback('demo/agent', [])).toBe('ollama/coder:7b')
    await server[Symbol.asyncDispose]()
    await models.discover()
    expect(models.rotation()).toEqual([{ model: 'demo/agent' }])
    expect(await models.fallback('demo/agent', [])).toBeNull()
  })
})

it('does not keep the process alive', async () => {
  const { spawn } = await import('node:child_process')
  await using server = await startOllama(() => false)
  const script = `
    const { createModels } = await import(${JSON.stringify(new URL('../models.ts', import.meta.url).href)})
    const models = createModels({ environment: { OLLAMA_HOST: '127.0.0.1:${server.port}' }, discoveryMs: 60_000 })
    void models.discover()
    models.close()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' })
  expect((await once(child, 'exit'))[0]).toBe(0)
})
