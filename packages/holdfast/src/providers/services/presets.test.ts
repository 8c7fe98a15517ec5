import type { ModelPart, ModelReadiness } from '@holdfast/core/ports'
import { aRequest, startAnthropicServer, startOpenAiChatServer, startOpenAiResponsesServer } from '@holdfast/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createModels } from '../models.ts'
import { startLocalServer } from '../testing/local-server.ts'
import { findPresetName, presets } from './presets.ts'
import { resolveServices, type ServiceConfig } from './registry.ts'

async function collect(readiness: ModelReadiness) {
  if (readiness.type !== 'ready') throw new Error(readiness.message)
  const parts: ModelPart[] = []
  for await (const part of readiness.provider.stream(aRequest(), { signal: new AbortController().signal }))
    parts.push(part)
  return parts
}

function modelsWith(given: { readonly [name: string]: ServiceConfig }, environment: { [name: string]: string } = {}) {
  const services = resolveServices(given)
  if (!services.ok) throw new Error(services.fault.message)
  return createModels({ environment, services: services.value })
}

const hi = { type: 'message', content: [{ type: 'text', text: 'hi' }] } as const
const compatible = presets.filter(({ api }) => api === 'chat')

afterEach(() => vi.unstubAllEnvs())

describe('an OpenAI-compatible service', () => {
  it.each(compatible.map(({ name }) => name))(
    'calls %s at its address with its key and asks for usage',
    async (name) => {
      const { keyNames, baseUrlNames } = presets.find((preset) => preset.name === name) ?? expect.fail(name)
      await using server = await startOpenAiChatServer(hi)
      const [keyName, baseUrlName = ''] = [keyNames[0], baseUrlNames[0]]
      const environment = { [baseUrlName]: server.url, ...(keyName !== undefined && { [keyName]: 'key-of-its-own-1' }) }
      const parts = await collect(createModels({ environment }).find(`${name}/some-model`))
      expect(parts.at(-1)).toMatchObject({ end: { type: 'complete', finish: 'stop', usage: { cost: null } } })
      const [request] = server.requests
      expect(request).toMatchObject({
        path: '/v1/chat/completions',
        body: { model: 'some-model', stream: true, stream_options: { include_usage: true } },
      })
      expect(request?.headers.authorization).toBe(keyName === undefined ? undefined : 'Bearer key-of-its-own-1')
    },
  )

  it('reports the usage of the service', async () => {
    await using server = await startOpenAiChatServer(hi)
    const parts = await collect(createModels({ environment: { OLLAMA_BASE_URL: server.url } }).find('ollama/llama'))
    const end = parts.at(-1)
    const usage = end?.type === 'end' && end.end.type === 'complete' ? end.end.usage : expect.fail('it did not end')
    expect(usage).toMatchObject({ input: expect.any(Number), output: expect.any(Number) })
  })

  it('calls a configured server with its headers', async () => {
    await using server = await startOpenAiChatServer(hi)
    const mybox = { baseUrl: server.url, keyName: 'MYBOX_KEY', headers: { 'x-team': 'blue' } }
    const models = modelsWith({ mybox }, { MYBOX_KEY: 'key-of-mybox-1' })
    expect(models.find('mybox/some/model')).toMatchObject({ type: 'ready', endpoint: `${server.url}/v1` })
    await collect(models.find('mybox/some/model'))
    expect(server.requests).toMatchObject([
      { headers: { authorization: 'Bearer key-of-mybox-1', 'x-team': 'blue' }, body: { model: 'some/model' } },
    ])
  })

  it('gets no options of a service with a similar name', async () => {
    await using server = await startOpenAiChatServer(hi)
    await collect(modelsWith({ 'openai-box': { baseUrl: server.url } }).find('openai-box/gpt-5'))
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]?.body).not.toHaveProperty('reasoning_effort')
  })

  it.each([
    ['deepseek', 'http://127.0.0.1:9/v1', 'deepseek'],
    ['mine', 'https://api.deepseek.com/beta', 'deepseek'],
    ['mine', 'https://models.example/v1', null],
    ['mine', 'no address', null],
  ])('%s at %s is the preset %s', (name, address, preset) => {
    expect(findPresetName(name, address)).toBe(preset)
  })

  it('is called with the configured API', async () => {
    await using responses = await startOpenAiResponsesServer({
      type: 'message',
      content: [{ type: 'message', text: 'hi' }],
    })
    await using anthropic = await startAnthropicServer(hi)
    const models = modelsWith({
      one: { baseUrl: responses.url, api: 'responses' },
      other: { baseUrl: anthropic.url, api: 'anthropic' },
    })
    for (const model of ['one/m', 'other/claude-sonnet-4-5'])
      expect((await collect(models.find(model))).at(-1)).toMatchObject({ end: { type: 'complete' } })
    expect([responses.requests.length, anthropic.requests.length]).toEqual([1, 1])
  })
})

describe('a key', () => {
  it.each(['chat', 'responses', 'anthropic', 'google'] as const)(
    'of the environment is not sent to a %s server without a key',
    async (api) => {
      for (const name of presets.flatMap(({ keyNames }) => keyNames)) vi.stubEnv(name, 'canary-key-0123456789')
      await using server = await startLocalServer((_, reply) => reply.writeHead(500).end())
      await collect(modelsWith({ mybox: { baseUrl: server.url, api } }).find('mybox/m'))
      expect(server.asked.length).toBeGreaterThan(0)
      expect(JSON.stringify(server.asked)).not.toContain('canary')
    },
  )

  it.each(['chat', 'responses', 'anthropic', 'google'] as const)(
    'is not sent to a redirect of a %s server',
    async (api) => {
      await using other = await startLocalServer((_, reply) => reply.writeHead(500).end())
      await using server = await startLocalServer((_, reply) =>
        reply.writeHead(307, { location: `${other.url}/v1/elsewhere` }).end(),
      )
      const mybox = { baseUrl: server.url, api, keyName: 'MYBOX_KEY' }
      const parts = await collect(modelsWith({ mybox }, { MYBOX_KEY: 'key-of-mybox-1' }).find('mybox/m'))
      expect(parts.at(-1)).toMatchObject({ end: { type: 'failed' } })
      expect(server.asked).toHaveLength(1)
      expect(other.asked).toEqual([])
    },
  )

  it('that is a word does not mask the word in messages', async () => {
    const message = 'the model lm-studio/test is not loaded'
    await using server = await startLocalServer((_, reply) =>
      reply.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } })),
    )
    const models = createModels({ environment: { LMSTUDIO_BASE_URL: server.url, LMSTUDIO_API_KEY: 'test' } })
    const parts = await collect(models.find('lmstudio/test'))
    expect(parts.at(-1)).toMatchObject({ end: { fault: { message: expect.stringContaining(message) } } })
  })

  it('of one service cannot be configured for another', () => {
    expect(resolveServices({ mybox: { baseUrl: 'http://127.0.0.1:9', keyName: 'OPENAI_API_KEY' } })).toMatchObject({
      ok: false,
      fault: { code: 'bad_config', details: { key: 'providers.mybox.keyName' } },
    })
    const second = { baseUrl: 'https://api.openai.com/v1', keyName: 'OPENAI_API_KEY', api: 'responses' } as const
    expect(resolveServices({ second }).ok).toBe(true)
  })

  it('that is configured but missing is named in the message', () => {
    const models = modelsWith({ mybox: { baseUrl: 'http://127.0.0.1:9', keyName: 'MYBOX_KEY' } })
    expect(models.find('mybox/m')).toEqual({ type: 'no_credentials', message: expect.stringContaining('MYBOX_KEY') })
  })
})

describe('a configured service', () => {
  it('needs an address', () => {
    expect(resolveServices({ mybox: {} })).toMatchObject({
      ok: false,
      fault: { code: 'bad_config', details: { key: 'providers.mybox.baseUrl' } },
    })
  })

  it('may change the address of a known one, unless the environment does', () => {
    const given = { ollama: { baseUrl: 'http://10.0.0.7:11434' } }
    expect(modelsWith(given, { OLLAMA_HOST: '127.0.0.1:5' }).find('ollama/m')).toMatchObject({
      endpoint: 'http://10.0.0.7:11434/v1',
    })
    expect(modelsWith(given, { OLLAMA_BASE_URL: 'http://10.0.0.8/api' }).find('ollama/m')).toMatchObject({
      endpoint: 'http://10.0.0.8/api',
    })
  })
})
