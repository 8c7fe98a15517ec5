import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import { startAnthropicServer } from '@holdfast/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type OpenOptions, openHoldfast, open as openInner } from '../open.ts'
import { replyJson, startLocalServer } from '../providers/testing/local-server.ts'
import { findHome } from '../system/home.ts'
import { holdsKey } from '../system/secrets/known-keys.ts'
import { openModels, takeCatalogue } from './open-models.ts'

let home = ''
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'hf-models-'))
})
afterEach(() => rm(home, { recursive: true, force: true }))

const environmentWith = (more: { [name: string]: string }) => ({
  HOLDFAST_HOME: home,
  HOLDFAST_LOCAL_MODELS: 'off',
  DEMO_PACE: '0',
  ...more,
})
const homeOf = () => findHome({ HOLDFAST_HOME: home })
async function configure(config: object): Promise<void> {
  await mkdir(homeOf().configDir, { recursive: true })
  await writeFile(join(homeOf().configDir, 'config.json'), JSON.stringify(config))
}
const open = (more: { [name: string]: string } = {}, options = {}) => {
  const notices: string[] = []
  return openModels({
    environment: environmentWith(more),
    home: homeOf(),
    options,
    onNotice: (one) => notices.push(one),
  })
}

describe('the models of a home', () => {
  it('follow the config file', async () => {
    await configure({
      model: 'mybox/one',
      rotation: ['mybox/one', { model: 'demo/agent', thinkingLevel: 'low' }],
      fallbacks: ['mybox/two'],
      providers: { mybox: { baseUrl: 'https://box.example' } },
      models: { 'mybox/one': { contextTokens: 1234 } },
    })
    const opened = await open()
    const { models } = opened.ok ? opened.value : expect.fail(opened.fault.message)
    expect(models.defaultModel()).toBe('mybox/one')
    expect(models.find('mybox/one')).toMatchObject({ type: 'ready', contextTokens: 1234 })
    expect(models.rotation()).toEqual([{ model: 'mybox/one' }, { model: 'demo/agent', thinkingLevel: 'low' }])
    expect(await models.fallback('mybox/one', [])).toBe('mybox/two')
  })

  it('use stored keys, and keys stored later after a refresh', async () => {
    const opened = await open()
    const { models } = opened.ok ? opened.value : expect.fail(opened.fault.message)
    expect(models.find('groq/some').type).toBe('no_credentials')
    await mkdir(homeOf().configDir, { recursive: true })
    const credentials = { version: 1, providers: { groq: { key: 'a-key-of-groq-1' } } }
    await writeFile(join(homeOf().configDir, 'credentials.json'), JSON.stringify(credentials), { mode: 0o600 })
    await models.refresh()
    expect(models.find('groq/some').type).toBe('ready')
    expect((await open()).ok).toBe(true)
  })

  it('use refreshed facts, also in runtimes that were already open', async () => {
    const opened = await open({ ANTHROPIC_API_KEY: 'key' })
    const { models } = opened.ok ? opened.value : expect.fail(opened.fault.message)
    const given = join(home, 'given.json')
    await writeFile(given, JSON.stringify({ asOf: '2026-12-01', models: { 'anthropic/next': { contextTokens: 77 } } }))
    expect(await takeCatalogue(given, { home: homeOf(), pid: 1, nowMs: 0 })).toMatchObject({ ok: true })
    expect(models.find('anthropic/next')).toMatchObject({ contextTokens: undefined })
    await models.refresh()
    expect(models.find('anthropic/next')).toMatchObject({ contextTokens: 77 })
    expect(await open()).toMatchObject({ ok: true, value: { asOf: '2026-12-01' } })
  })

  it('name every variable that may hold a key, so that commands do not inherit it', async () => {
    await configure({ providers: { mybox: { baseUrl: 'https://box.example', keyName: 'MY_SECRET_BOX' } } })
    const opened = await open()
    expect(opened.ok ? opened.value.keyNames : []).toEqual(
      expect.arrayContaining(['ANTHROPIC_API_KEY', 'MISTRAL_API_KEY', 'MY_SECRET_BOX']),
    )
  })
})

describe('a key', () => {
  it('is masked as soon as the models are open, wherever it comes from', async () => {
    const made = (name: string) => `a-made-up-key-${name}-0123456789`
    const headers = {
      authorization: `Bearer ${made('behind')}`,
      'x-api-key': 'short-1234',
      'x-team': made('header'),
      'x-place': 'the blue house by the sea',
      'anthropic-beta': made('beta'),
    }
    await configure({ providers: { mybox: { baseUrl: 'https://box.example', keyName: 'MY_BOX', headers } } })
    const opened = await open({ MY_BOX: ` ${made('own')} `, SOME_API_KEY: made('unasked'), PLAIN: made('no') })
    expect(opened.ok).toBe(true)
    const held = ['own', 'unasked', 'behind', 'header', 'beta', 'no'].filter((name) => holdsKey(made(name)))
    expect(held).toEqual(['own', 'unasked', 'behind', 'header'])
    expect(['short-1234', headers['x-place']].map(holdsKey)).toEqual([true, false])
  })
})

type Wrong = readonly [config: object, more: { [name: string]: string }, options: OpenOptions, fault: object]

describe('an invalid configuration', () => {
  it.each<Wrong>([
    [{ modle: 'a/b' }, {}, {}, { code: 'bad_config', details: { key: 'modle' } }],
    ...['http://me:pw@a.example', 'http://a.example/v1?key=b', 'https://a.example/#b', 'file:///a'].map(
      (baseUrl) =>
        [
          { providers: { mybox: { baseUrl } } },
          {},
          {},
          { code: 'bad_config', details: { key: 'providers.mybox.baseUrl' } },
        ] satisfies Wrong,
    ),
    [
      { providers: { demo: { baseUrl: 'http://a' } } },
      {},
      {},
      { code: 'bad_config', details: { key: 'providers.demo' } },
    ],
    [{ providers: { mybox: {} } }, {}, {}, { code: 'bad_config', details: { key: 'providers.mybox.baseUrl' } }],
    [
      { model: 'antropic/claude' },
      {},
      {},
      { code: 'unknown_model', details: { key: 'model', model: 'antropic/claude' } },
    ],
    [{ fallbacks: ['nobody/x'] }, {}, {}, { code: 'unknown_model', details: { key: 'fallbacks' } }],
    [{}, { HOLDFAST_ROTATION: 'nobody/x' }, {}, { code: 'unknown_model', details: { path: 'HOLDFAST_ROTATION' } }],
    [{}, {}, { titleModel: 'nobody/x' }, { code: 'unknown_model', details: { path: 'The option titleModel' } }],
    [
      { models: { 'a/b': { thinkingLevels: [] } } },
      {},
      {},
      { code: 'bad_config', details: { key: 'models.a/b.thinkingLevels' } },
    ],
    [{}, {}, { compactionModel: 'x' }, { code: 'bad_config', details: { key: 'compactionModel' } }],
  ])('%j %j %j is rejected', async (config, more, options, fault) => {
    await configure(config)
    const opening = openHoldfast({ environment: environmentWith(more), ...options })
    await expect(opening).rejects.toMatchObject({ name: 'HoldfastError', ...fault })
    expect(existsSync(homeOf().dataDir)).toBe(false)
    expect(existsSync(homeOf().stateDir)).toBe(false)
  })

  it('with an invalid model name is rejected', async () => {
    const models = { mine: createAnthropic({ apiKey: 'none' })('claude') }
    const opening = openHoldfast({ environment: environmentWith({}), models })
    const message = expect.stringContaining("invalid name 'mine'. Use provider/model, for example own/mine.")
    await expect(opening).rejects.toMatchObject({ name: 'HoldfastError', code: 'bad_config', message })
  })

  it('with damaged facts is rejected with their path', async () => {
    await mkdir(homeOf().dataDir, { recursive: true })
    await writeFile(join(homeOf().dataDir, 'models.json'), '{"asOf"')
    expect(await open()).toMatchObject({
      ok: false,
      fault: { details: { path: join(homeOf().dataDir, 'models.json') } },
    })
  })
})

describe('a runtime', () => {
  it('starts sessions with the configured model, or the one of the program', async () => {
    await configure({ model: 'groq/configured' })
    for (const [options, model] of [
      [{}, 'groq/configured'],
      [{ model: 'groq/wanted' }, 'groq/wanted'],
    ] as const) {
      await using holdfast = await openHoldfast({ environment: environmentWith({}), store: 'memory:', ...options })
      const session = await holdfast.startSession({ workdir: home })
      expect((await session.metadata()).model).toBe(model)
    }
  })

  it('does not wait for a local server that never answers', async () => {
    await using server = await startLocalServer(() => undefined)
    const more = { HOLDFAST_LOCAL_MODELS: 'on', OLLAMA_HOST: `127.0.0.1:${server.port}` }
    const holdfast = await openHoldfast({ environment: environmentWith(more), store: 'memory:' })
    const session = await holdfast.startSession({ workdir: home })
    expect((await session.metadata()).model).toBe('demo/agent')
    await session.sendPrompt('list')
    await holdfast.close()
    expect(server.asked.length).toBeLessThanOrEqual(2)
  })

  it('uses a local server as its default once it is found', async () => {
    await using server = await startLocalServer(({ path }, reply) =>
      replyJson(reply, path === '/api/tags' ? { models: [{ name: 'small:1b' }] } : {}),
    )
    const more = { HOLDFAST_LOCAL_MODELS: 'on', OLLAMA_HOST: `127.0.0.1:${server.port}` }
    await using holdfast = await openHoldfast({ environment: environmentWith(more), store: 'memory:' })
    await vi.waitFor(async () => {
      const { models } = await holdfast.models() // on a busy machine one discovery may time out
      expect(models.find(({ isDefault }) => isDefault)?.model).toBe('ollama/small:1b')
    }, 15_000)
    const session = await holdfast.startSession({ workdir: home })
    expect((await session.metadata()).model).toBe('ollama/small:1b')
  })

  it('waits for a local server if a session needs a default model', async () => {
    await using server = await startLocalServer(({ path }, reply) =>
      replyJson(reply, path === '/api/tags' ? { models: [{ name: 'small:1b' }] } : {}),
    )
    const more = { HOLDFAST_LOCAL_MODELS: 'on', OLLAMA_HOST: `127.0.0.1:${server.port}` }
    await vi.waitFor(async () => {
      const opened = await openInner({ environment: environmentWith(more), store: 'memory:', usesDefaultModel: true })
      await using holdfast = opened.ok ? opened.value : expect.fail(opened.fault.message)
      const session = await holdfast.startSession({ workdir: home })
      expect((await session.metadata()).model).toBe('ollama/small:1b') // on a busy machine one discovery may time out
    }, 15_000)
  })

  it('records the price of a call', async () => {
    await using server = await startAnthropicServer({ type: 'message', content: [{ type: 'text', text: 'hi' }] })
    const more = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: server.url }
    await using holdfast = await openHoldfast({ environment: environmentWith(more), store: 'memory:' })
    const session = await holdfast.startSession({ workdir: home, model: 'anthropic/claude-haiku-4-5' })
    await session.sendPrompt('hello')
    for await (const frame of session.subscribe({ after: 0 }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    expect((await session.usage()).cost).toBeGreaterThan(0)
  })
})
