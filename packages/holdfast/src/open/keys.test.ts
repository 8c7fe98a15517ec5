import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findHome } from '../system/home.ts'
import { openKeys } from './keys.ts'

const key = `made-keys-${'X0'.repeat(10)}wxyz`
let base = ''
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'hf-keys-'))
  mkdirSync(join(base, 'config'), { mode: 0o700 })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const open = async (environment: Record<string, string> = {}) => {
  const all = { HOLDFAST_HOME: base, ...environment }
  return openKeys(all, findHome(all))
}
const configure = (config: object) => writeFileSync(join(base, 'config', 'config.json'), JSON.stringify(config))
const kept = () => JSON.parse(readFileSync(join(base, 'config', 'credentials.json'), 'utf8')).providers
const of = (all: readonly { readonly provider: string }[], name: string) =>
  all.find(({ provider }) => provider === name)
const signal = new AbortController().signal

it('shares one key between two APIs of a provider', async () => {
  const keys = await open()
  const provider = orThrow(keys.find('openai-chat'))
  orThrow(await keys.save('openai-chat', { key }))
  expect([provider.name, Object.keys(kept())]).toEqual(['openai', ['openai']])
  expect(keys.providers.map(({ name }) => name)).not.toContain('openai-chat')
})

it('saves the key of a configured provider, and lists it until it is removed, even without the provider', async () => {
  configure({ providers: { box: { baseUrl: 'https://box.example/v1', title: 'The box' } } })
  const keys = await open()
  expect(orThrow(keys.find('box')).title).toBe('The box')
  orThrow(await keys.save('box', { key }))
  expect(of((await open()).status(), 'box')).toMatchObject({ from: { type: 'file' }, ends: 'wxyz', lacks: null })

  configure({})
  const later = await open()
  expect(of(later.status(), 'box')).toMatchObject({ from: { type: 'file' }, ends: 'wxyz', endpoint: null })
  orThrow(later.find('box'))
  expect(orThrow(await later.remove('box'))).toBe(true)
  expect(kept()).toEqual({})
  expect((await open()).find('box')).toMatchObject({ ok: false })
})

it('sends a key only to the address it was saved for', async () => {
  const received: string[] = []
  const server = createServer(({ headers }, response) => {
    received.push(headers.authorization ?? '')
    response.end('{"data":[]}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A listening TCP server has an address of this type.
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  try {
    orThrow(await (await open()).save('groq', { key, baseUrl }))
    const keys = await open({ GROQ_BASE_URL: 'http://127.0.0.1:1/v1' })
    expect(of(keys.status(), 'groq')).toMatchObject({ endpoint: baseUrl })
    expect(await keys.check('groq', null, signal)).toEqual({ type: 'accepted', account: null, note: null })
    expect(received).toEqual([`Bearer ${key}`])
  } finally {
    server.close()
  }
})

it('does not repeat an unknown provider name that may be a key', async () => {
  const keys = await open()
  expect(keys.find('opnai')).toMatchObject({ fault: { message: expect.stringContaining("Did you mean 'openai'?") } })
  expect(JSON.stringify(keys.find(key))).not.toContain('X0')
})

it('checks no key at an invalid address, and names its source', async () => {
  const keys = await open({ OPENAI_API_KEY: key, OPENAI_BASE_URL: 'https://me:hush@host.example' })
  const lacks = expect.stringMatching(/^OPENAI_BASE_URL is wrong: an address must have no user/)
  expect(await keys.check('openai', null, signal)).toEqual({ type: 'unknown', message: lacks })
  expect(of(keys.status(), 'openai')).toMatchObject({ lacks, endpoint: 'https://host.example/v1' })
})
