import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRefreshedFacts, refreshCatalogue, refreshedPath } from './catalogue.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hf-catalogue-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const target = () => refreshedPath(join(folder, 'data'))
async function refresh(given: unknown) {
  const path = join(folder, 'given.json')
  await writeFile(path, typeof given === 'string' ? given : JSON.stringify(given))
  return refreshCatalogue({ path, services: ['anthropic', 'groq'], today: '2026-12-24', target: target(), pid: 1 })
}
const read = async () => {
  const facts = createRefreshedFacts(target())
  const done = await facts.read()
  if (!done.ok) throw new Error(done.fault.message)
  return { models: facts.all(), asOf: facts.asOf() }
}

const ours = { asOf: '2026-12-01', models: { 'anthropic/next': { contextTokens: 5, price: { input: 1, output: 2 } } } }

describe('a catalogue refresh', () => {
  it('accepts our own format and writes a private file', async () => {
    expect(await read()).toEqual({ models: {}, asOf: null })
    expect(await refresh(ours)).toEqual({ ok: true, value: ours })
    expect(await read()).toEqual(ours)
    expect((await stat(target())).mode & 0o777).toBe(0o600)
    expect(await readdir(join(folder, 'data'))).toEqual(['models.json'])
  })

  it('reads the models.dev list for known services', async () => {
    const model = {
      id: 'next',
      name: 'Next',
      attachment: true,
      reasoning: false,
      tool_call: true,
      release_date: '2026-12-01',
      modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
      cost: { input: 1, output: 5, cache_read: 0.1, cache_write: 1.25 },
      limit: { context: 300000, output: 64000 },
    }
    const list = {
      anthropic: {
        id: 'anthropic',
        name: 'Anthropic',
        models: {
          next: model,
          painter: { ...model, modalities: { input: ['text'], output: ['image'] } },
          bare: { id: 'bare', reasoning: true, limit: { context: 0, output: 0 } },
        },
      },
      groq: { models: { 'org/small': { cost: { input: 0.1, output: 0.2 } } } },
      unheard: { models: { odd: { cost: 'a lot' } } },
    }
    expect((await refresh(list)).ok).toBe(true)
    expect(await read()).toEqual({
      asOf: '2026-12-24',
      models: {
        'anthropic/next': {
          title: 'Next',
          contextTokens: 300000,
          outputTokens: 64000,
          price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
          takes: ['image/*', 'application/pdf'],
          tools: true,
          thinkingLevels: ['off'],
        },
        'anthropic/bare': {},
        'groq/org/small': { price: { input: 0.1, output: 0.2 } },
      },
    })
  })

  it.each([
    ['is not JSON', '{"asOf": '],
    ['has another format', { hello: 'world' }],
    ['has a wrong price', { ...ours, models: { 'anthropic/next': { price: { input: -1, output: 2 } } } }],
    ['has an unknown key', { ...ours, models: { 'anthropic/next': { contextTokns: 5 } } }],
    ['has an invalid date', { ...ours, asOf: 'today' }],
    ['has no model', { ...ours, models: {} }],
    ['has one wrong model', { anthropic: { models: { a: {}, b: { limit: { context: 'long' } } } } }],
    ['lists only unknown services', { unheard: { models: { a: {} } } }],
    ['is empty', ''],
  ])('refuses a file that %s, and keeps the old facts', async (_, given) => {
    await refresh(ours)
    const before = await readFile(target(), 'utf8')
    expect(await refresh(given)).toMatchObject({ ok: false, fault: { details: { path: join(folder, 'given.json') } } })
    expect(await readFile(target(), 'utf8')).toBe(before)
  })

  it('names the wrong key', async () => {
    const given = { anthropic: { models: { a: {}, b: { limit: { context: 'long' } } } } }
    expect(await refresh(given)).toMatchObject({
      ok: false,
      fault: { details: { key: 'anthropic › models › b › limit › context' } },
    })
  })

  it('refuses a missing file and a directory', async () => {
    const given = { services: [], today: '2026-12-24', target: target(), pid: 1 }
    expect(await refreshCatalogue({ path: join(folder, 'none'), ...given })).toMatchObject({ ok: false })
    expect(await refreshCatalogue({ path: folder, ...given })).toMatchObject({ ok: false })
  })
})
