import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { holdsKey } from '../../system/secrets/known-keys.ts'
import { changeCredentials, createCredentials, credentialsPath } from './credentials.ts'

const made = (name: string) => `made-${name}-${'X0'.repeat(12)}`
let file = ''
beforeEach(() => {
  file = credentialsPath(mkdtempSync(join(tmpdir(), 'hf-credentials-')))
})
afterEach(() => rmSync(join(file, '..'), { recursive: true, force: true }))

const store = async (service: string, key: string) =>
  orThrow(await changeCredentials(file, (credentials) => credentials.set(service, { key, baseUrl: 'http://box:1/v1' })))

it('prefers a key of the environment to the file', async () => {
  const environment: Record<string, string> = { FIRST: ' ', SECOND: ` ${made('environment')}\n` }
  await store('openai', made('kept'))
  const credentials = createCredentials({ environment, file })
  expect(credentials.find('openai', ['FIRST'])).toBeUndefined()
  orThrow(await credentials.refresh())
  expect(credentials.find('openai', ['FIRST', 'SECOND'])).toEqual({
    key: made('environment'),
    from: { type: 'variable', name: 'SECOND' },
  })
  expect(credentials.find('openai', ['FIRST'])).toEqual({
    key: made('kept'),
    from: { type: 'file' },
    baseUrl: 'http://box:1/v1',
  })
  expect(credentials.find('google', ['FIRST'])).toBeUndefined()
})

it('finds added and removed keys after a refresh', async () => {
  const credentials = createCredentials({ environment: {}, file })
  expect(orThrow(await credentials.refresh())).toEqual([])
  await store('openai', made('later'))
  expect(credentials.find('openai', [])).toBeUndefined()
  await credentials.refresh()
  expect(credentials.find('openai', [])?.key).toBe(made('later'))
  rmSync(file)
  await credentials.refresh()
  expect(credentials.find('openai', [])).toBeUndefined()
})

it('keeps the old keys if the file becomes unreadable, and says why', async () => {
  await store('openai', made('known'))
  const credentials = createCredentials({ environment: {}, file })
  await credentials.refresh()
  expect(credentials.fileProblem()).toBeNull()
  writeFileSync(file, '{')
  expect(await credentials.refresh()).toMatchObject({ ok: false })
  expect(credentials.find('openai', [])?.key).toBe(made('known'))
  expect(credentials.fileProblem()).toContain('is damaged')
})

it('registers every key that it reads, and no other', async () => {
  await store('openai', made('in-the-file'))
  const environment = { PLAIN: made('asked-for') }
  const credentials = createCredentials({ environment, file })
  await credentials.refresh()
  expect(['in-the-file', 'asked-for'].map((name) => holdsKey(made(name)))).toEqual([true, false])
  credentials.find('google', ['PLAIN'])
  expect(holdsKey(made('asked-for'))).toBe(true)
})
