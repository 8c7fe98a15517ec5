import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { orThrow } from '@holdfast/protocol'
import { expect, it } from 'vitest'
import { openHoldfast } from './open.ts'
import { changeCredentials, createCredentials, credentialsPath } from './providers/credentials/credentials.ts'
import { createModels } from './providers/models.ts'
import { openRuntimeServer } from './server/testing/runtime-server.ts'
import { findHome } from './system/home.ts'

it('a prompt refused for lack of a key is accepted after a refresh, without a restart', async () => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-refresh-'))
  const environment = { HOLDFAST_HOME: home, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' } // no server listens there
  const holdfast = await openHoldfast({ store: 'memory:', environment })
  const session = await holdfast.startSession({ workdir: home, model: 'anthropic/claude-sonnet-4-5' })
  await expect(session.sendPrompt('Hello?')).rejects.toMatchObject({
    code: 'no_credentials',
    message: expect.stringContaining('holdfast auth login'),
  })
  const [before] = (await holdfast.models()).models.filter(({ model }) => model.startsWith('anthropic/'))
  expect(before?.unusable).toEqual(expect.any(String))

  orThrow(
    await changeCredentials(credentialsPath(findHome(environment).configDir), (credentials) =>
      credentials.set('anthropic', { key: 'sk-ant-once-more' }),
    ),
  )
  await expect(session.sendPrompt('Hello?')).rejects.toMatchObject({ code: 'no_credentials' })
  expect(await session.refreshCredentials()).toMatchObject({ credentialsConfigured: true })
  const available = await session.getAvailableModels()
  expect(available.some(({ model }) => model.startsWith('anthropic/'))).toBe(true)
  expect(JSON.stringify(await holdfast.models())).not.toContain('sk-ant-once-more')
  expect(await session.sendPrompt('Hello?')).toEqual({ seq: expect.any(Number) })
  await session.abort()
  expect((await session.messages()).map((message) => message.kind)).toContain('user')
  await holdfast.close()
  await rm(home, { recursive: true, force: true })
})

it('a refresh reports an unreadable file of keys, and the known keys stay', async () => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-refresh-'))
  const environment = { HOLDFAST_HOME: home, HOLDFAST_LOCAL_MODELS: 'off' }
  const path = credentialsPath(findHome(environment).configDir)
  orThrow(await changeCredentials(path, (credentials) => credentials.set('groq', { key: 'a-key-of-groq-2' })))
  const holdfast = await openHoldfast({ store: 'memory:', environment })
  const session = await holdfast.startSession({ workdir: home, model: 'groq/some' })
  await writeFile(path, '{"version":', { mode: 0o600 })
  const damaged = { code: 'storage_error', message: expect.stringContaining(path) }
  await expect(session.refreshCredentials()).rejects.toMatchObject(damaged)
  await expect(holdfast.refreshCredentials()).rejects.toMatchObject(damaged)
  expect((await session.getAvailableModels()).some(({ model }) => model.startsWith('groq/'))).toBe(true)
  await holdfast.close()
  await rm(home, { recursive: true, force: true })
})

it('a refresh over HTTP reports a damaged file of keys', async () => {
  const home = await mkdtemp(join(tmpdir(), 'holdfast-refresh-'))
  const file = join(home, 'credentials.json')
  await writeFile(file, '{"version":', { mode: 0o600 })
  const models = createModels({ environment: {}, credentials: createCredentials({ environment: {}, file }) })
  await using test = await openRuntimeServer({}, models)
  const command = JSON.stringify({ type: 'refreshCredentials' })
  // Only an admin is told the path.
  const headers = { authorization: `Bearer ${test.tokens.admin}`, 'content-type': 'application/json' }
  for (const answer of [
    await test.call('/v1/credentials/refresh', { method: 'POST', headers }),
    await test.call(`${test.path}/commands`, { method: 'POST', headers, body: command }),
  ]) {
    expect(answer.status).toBe(503)
    expect(await answer.json()).toMatchObject({
      error: { code: 'storage_error', message: expect.stringContaining(file) },
    })
  }
  expect((await test.call('/v1/models')).status).toBe(200)
  await writeFile(file, '{"version":1,"providers":{}}', { mode: 0o600 })
  expect((await test.call('/v1/credentials/refresh', { method: 'POST' })).status).toBe(200)
  await rm(home, { recursive: true, force: true })
})
