import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectHoldfast } from '@holdfast/client'
import { HoldfastError } from '@holdfast/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openHoldfast } from './entry/index.ts'
import { openConversations } from './entry/store.ts'

let home = ''
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'holdfast-bad-options-'))
})
afterAll(() => rm(home, { recursive: true, force: true }))

const faultOf = (error: unknown): string =>
  error instanceof HoldfastError ? `${error.code}: ${error.message}` : `a bug: ${error}`

/** The options of a program without types, and a part of the sentence that refuses them. */
const options: readonly (readonly [what: string, given: unknown, sentence: RegExp])[] = [
  ['null', null, /options of openHoldfast must be an object/],
  ['a number', 5, /options of openHoldfast must be an object/],
  ['a list', [], /options of openHoldfast must be an object/],
  ['a tool that is null', { tools: { a: null } }, /The tool a cannot be used: it is not a tool/],
  ['tools that are a number', { tools: 5 }, /option tools has a value that is not a tool/],
  ['a text for a time', { idleUnloadMs: 'abc' }, /idleUnloadMs must be a number of milliseconds/],
  ['a model that is a number', { models: { 'own/x': 5 } }, /own\/x/],
  ['models that are a number', { models: 5 }, /option models/],
  ['a model name without a provider', { models: { x: {} } }, /provider\/model/],
  ['a retention that is a number', { retention: 5 }, /option retention/],
  ['a retention of a text', { retention: { days: 'abc' } }, /retention\.days/],
  ['a store that is a number', { store: 5 }, /option store/],
  ['a store without methods', { store: {} }, /option store/],
  ['blobs that are a number', { blobs: 5 }, /option blobs/],
  ['an environment that is a number', { environment: 5 }, /option environment/],
  ['a logger that is a number', { logger: 5 }, /option logger/],
  ['a listener that is a number', { onProblem: 5 }, /option onProblem/],
  ['a mirror that is a number', { mirror: 5 }, /option mirror/],
]

it.each(options)('openHoldfast refuses %s with a sentence, and creates no store', async (_, given, sentence) => {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' }
  const asked = isObject ? { environment, ...given } : given
  const outcome = await openHoldfast(asked as object).then(async (opened) => {
    await opened.close()
    return 'opened'
  }, faultOf)
  expect(outcome).toMatch(/^bad_\w+: /)
  expect(outcome).toMatch(sentence)
  expect(await readdir(home)).not.toContain('data')
})

it.each<readonly [what: string, given: readonly unknown[], sentence: RegExp]>([
  ['an address that is none', ['nonsense'], /nonsense/],
  ['an address that is a number', [5], /address/],
  ['no address', [undefined], /address/],
  ['an address of another protocol', ['ftp://example.com'], /http/],
  ['a token that is a number', ['http://127.0.0.1:9', 5], /token/],
  ['an unknown option', ['http://127.0.0.1:9', 'token', { fech: fetch }], /no option "fech"\. Did you mean 'fetch'\?/],
  ['options that are null', ['http://127.0.0.1:9', 'token', null], /options/],
])('connectHoldfast refuses %s with a sentence', (_, given, sentence) => {
  let outcome = 'connected'
  try {
    Reflect.apply(connectHoldfast, null, given)
  } catch (error) {
    outcome = faultOf(error)
  }
  expect(outcome).toMatch(/^bad_request: /)
  expect(outcome).toMatch(sentence)
})

it('connectHoldfast keeps the path of the address, as behind a proxy', async () => {
  const asked: string[] = []
  const answer = async (url: unknown) => {
    asked.push(String(url))
    return Response.json({ status: 'ok', version: '1.2.3' })
  }
  for (const address of ['http://127.0.0.1:9/agents/', 'http://127.0.0.1:9/'])
    await connectHoldfast(address, 'token', { fetch: answer }).health()
  expect(asked).toEqual(['http://127.0.0.1:9/agents/v1/health', 'http://127.0.0.1:9/v1/health'])
})

it('conversations refuse unknown options and keys that are no texts', async () => {
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' }
  const wrong = { store: 'memory:', environment, stor: 'memory:' }
  expect(await openConversations(wrong).then(() => 'opened', faultOf)).toBe(
    `bad_request: There is no option "stor". Did you mean 'store'?`,
  )
  await using holdfast = await openHoldfast({ store: 'memory:', environment })
  expect(() => holdfast.conversations({ modl: 'x' } as object)).toThrow('There is no option "modl"')
  expect(() => holdfast.conversations({ workdir: 5 } as object)).toThrow('The option workdir must be')
  const save = holdfast.conversations().save as (key: unknown) => Promise<void> // as JavaScript may call it
  expect(await save(5).then(() => 'saved', faultOf)).toMatch(/^bad_id: A key is/)
  for (const messages of ['x', 5, null, [null], ['x']])
    expect(await holdfast.save({ messages } as never).then(() => 'saved', faultOf)).toMatch(
      /^bad_request: .*list of messages/,
    )
})
