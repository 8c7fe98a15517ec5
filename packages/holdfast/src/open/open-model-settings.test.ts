import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { HoldfastError, orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { codeOf, openTestServer } from '../server/testing/test-server.ts'
import { findHome } from '../system/home.ts'
import { openModelSettings } from './open-model-settings.ts'
import { openModels } from './open-models.ts'

const key = `made-keys-${'Y0'.repeat(10)}wxyz`

describe('keys and the default model, set by a client', () => {
  let base = ''
  let provider: Server
  let status = 200
  const asked: string[] = []
  beforeEach(async () => {
    base = mkdtempSync(join(tmpdir(), 'hf-model-settings-'))
    status = 200
    asked.length = 0
    provider = createServer(({ headers }, response) => {
      asked.push(headers.authorization ?? '')
      response.writeHead(status).end(status === 200 ? '{"data":[{"id":"one"}]}' : '{}')
    }).listen(0, '127.0.0.1')
    await once(provider, 'listening')
  })
  afterEach(() => {
    provider.close()
    rmSync(base, { recursive: true, force: true })
  })

  const path = (name: string) => join(findHome({ HOLDFAST_HOME: base }).configDir, name)
  /** Opens the settings of a home whose provider `groq` is the server of this test. */
  async function open(extra: Record<string, string> = {}) {
    // A listening TCP server has an address of this type.
    const address = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
    const environment = { HOLDFAST_HOME: base, GROQ_BASE_URL: address, HOLDFAST_LOCAL_MODELS: 'off', ...extra }
    const home = findHome(environment)
    const { models, configured } = orThrow(await openModels({ environment, home, onNotice: () => undefined }))
    return { models, settings: openModelSettings({ environment, home, models, configured }) }
  }

  it('checks a key with its provider, saves it, and lists the provider as usable at once', async () => {
    const { models, settings } = await open()
    const usable = async () => (await models.list()).providers.find((one) => one.provider === 'groq')?.unusable === null
    expect(await usable()).toBe(false)
    const saved = await settings.saveKey({ provider: 'groq', key: ` ${key}\n` })
    expect(saved).toEqual({ ok: true, value: { provider: 'groq', isChecked: true, account: null, note: null } })
    expect(asked).toEqual([`Bearer ${key}`])
    expect(JSON.parse(readFileSync(path('credentials.json'), 'utf8')).providers.groq).toEqual({ key })
    expect(await usable()).toBe(true)
    expect(await settings.removeKey('groq')).toEqual({ ok: true, value: { provider: 'groq', note: null } })
    expect(await usable()).toBe(false)
    expect(await settings.removeKey('groq')).toMatchObject({ fault: { code: 'not_found' } })
  })

  it('saves no key that is rejected, and an unconfirmed one only if it is asked to', async () => {
    const { settings } = await open()
    status = 401
    expect(await settings.saveKey({ provider: 'groq', key })).toMatchObject({ fault: { code: 'no_credentials' } })
    expect(await settings.saveKey({ provider: 'groq', key, isUnchecked: true })).toMatchObject({
      fault: { code: 'no_credentials' },
    })
    status = 500
    expect(await settings.saveKey({ provider: 'groq', key })).toMatchObject({ fault: { code: 'unreachable' } })
    expect(await settings.saveKey({ provider: 'groq', key, isUnchecked: true })).toMatchObject({
      value: { isChecked: false },
    })
    expect(await settings.saveKey({ provider: 'nobody', key })).toMatchObject({ fault: { code: 'bad_request' } })
    expect(await settings.saveKey({ provider: 'groq', key: 'two words' })).toMatchObject({
      fault: { code: 'bad_request' },
    })
  })

  it('says that a variable is used instead', async () => {
    const { settings } = await open({ GROQ_API_KEY: `${key}9` })
    const note = 'The variable GROQ_API_KEY is set on the server and is used instead.'
    expect(await settings.saveKey({ provider: 'groq', key })).toMatchObject({ value: { note } })
  })

  it('sets the default model now and in the file, beside what is there', async () => {
    await open() // creates the directory
    const { settings, models } = await open()
    expect(models.defaultModel()).toBe('demo/agent')
    orThrow(await settings.setDefault({ model: 'groq/one' }))
    writeFileSync(path('config.json'), JSON.stringify({ localModels: false, model: 'groq/one' }))
    expect(await settings.setDefault({ model: 'groq/two' })).toEqual({ ok: true, value: { model: 'groq/two' } })
    expect(models.defaultModel()).toBe('groq/two')
    expect(JSON.parse(readFileSync(path('config.json'), 'utf8'))).toEqual({ localModels: false, model: 'groq/two' })
    expect(await settings.setDefault({ model: 'nobody/two' })).toMatchObject({ fault: { code: 'unknown_model' } })
    const fixed = await open({ HOLDFAST_MODEL: 'demo/agent' })
    expect(await fixed.settings.setDefault({ model: 'groq/one' })).toMatchObject({ fault: { code: 'bad_config' } })
    writeFileSync(path('config.json'), 'not JSON')
    expect(await settings.setDefault({ model: 'groq/one' })).toMatchObject({ fault: { code: 'bad_config' } })
    expect([models.defaultModel(), readFileSync(path('config.json'), 'utf8')]).toEqual(['groq/two', 'not JSON'])
  })

  it('lets only an admin in over HTTP, and sends no key back', async () => {
    const { settings } = await open()
    await using test = await openTestServer({ modelSettings: settings })
    const body = JSON.stringify({ provider: 'groq', key })
    for (const role of ['viewer', 'driver'] as const) {
      const authorization = `Bearer ${test.tokens[role]}`
      const refused = await test.post('/v1/credentials', body, { authorization })
      expect([refused.status, await codeOf(refused)]).toEqual([403, 'not_driver'])
    }
    const text = await (
      await test.post('/v1/credentials', body, { authorization: `Bearer ${test.tokens.admin}` })
    ).text()
    expect(text).not.toContain(key.slice(-8))
    const remote = connectHoldfast(test.server.url, test.tokens.admin)
    expect(await remote.saveKey({ provider: 'groq', key })).toMatchObject({ isChecked: true })
    expect(await remote.setDefaultModel('groq/one')).toEqual({ model: 'groq/one' })
    expect(await remote.removeKey('groq')).toMatchObject({ provider: 'groq' })
    await expect(remote.removeKey('groq')).rejects.toThrow(HoldfastError)
  })
})
