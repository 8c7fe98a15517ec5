import { connectSessions, createLiveView, createSession } from '@holdfast/client'
import type { Models } from '@holdfast/core/ports'
import { done, ModelList, noUsage, orThrow } from '@holdfast/protocol'
import { createScriptedModel, finish, modelsWith, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { aModelList } from '../../testing/fake-sessions.ts'
import { openRuntimeServer } from '../../testing/runtime-server.ts'
import { codeOf, openTestServer } from '../../testing/test-server.ts'

const secret = 'sk-a-very-secret-key'

/** Models that find a key at a refresh, with the key in a field that must not be sent. */
function keyedModels(): Models {
  const usage = { ...noUsage, input: 100, output: 10, cost: null }
  const provider = createScriptedModel(() => [say('Hi.'), finish('stop', usage)])
  let hasKey = false
  return modelsWith(
    () =>
      hasKey
        ? { type: 'ready', provider, endpoint: 'https://models.example/v1', key: secret }
        : { type: 'no_credentials', message: 'Add a key with: holdfast auth login sim' },
    {
      list: async () => ({
        models: aModelList.models.map((model) => ({ ...model, key: secret })),
        providers: aModelList.providers.map((provider) => ({ ...provider, key: secret })),
      }),
      async refresh() {
        hasKey = true
        return done
      },
    },
  )
}

describe('models over HTTP', () => {
  it('are listed without any key', async () => {
    await using test = await openRuntimeServer({}, keyedModels())
    for (const answer of [
      await test.call('/v1/models'),
      await test.call('/v1/credentials/refresh', { method: 'POST' }),
      await test.call(test.path),
    ]) {
      const text = await answer.text()
      expect([answer.status, text.includes(secret)]).toEqual([200, false])
    }
    expect(ModelList.parse(await (await test.call('/v1/models')).json())).toEqual(aModelList)
  })

  it('are refreshed by a driver, not by a viewer', async () => {
    await using test = await openTestServer()
    const headers = { authorization: `Bearer ${test.tokens.viewer}` }
    const refused = await test.call('/v1/credentials/refresh', { method: 'POST', headers })
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'not_driver'])
    expect(test.fake.touched).toEqual([])
    expect((await test.call('/v1/models', { headers })).status).toBe(200)
  })
})

describe('a prompt without credentials, over HTTP', () => {
  it.each(['the command', 'the route'])(
    'is refused with advice, and accepted after %s found credentials',
    async (way) => {
      await using test = await openRuntimeServer({}, keyedModels())
      const prompt = JSON.stringify({ type: 'sendPrompt', commandId: 'one', content: 'go' })
      const refused = await test.post(`${test.path}/commands`, prompt)
      expect(refused.status).toBe(409)
      expect(await refused.json()).toMatchObject({
        error: {
          code: 'no_credentials',
          message: 'Add a key with: holdfast auth login sim',
          details: { model: 'sim/model' },
        },
      })
      const refreshed =
        way === 'the route'
          ? await test.call('/v1/credentials/refresh', { method: 'POST' })
          : await test.post(`${test.path}/commands`, JSON.stringify({ type: 'refreshCredentials' }))
      expect(refreshed.ok).toBe(true)
      expect((await test.post(`${test.path}/commands`, prompt)).status).toBe(202)
    },
  )
})

describe('a remote client', () => {
  it('is notified of a new key on every attached session', async () => {
    await using test = await openRuntimeServer({}, keyedModels())
    const sessions = connectSessions({ url: test.server.url, token: test.tokens.driver })
    const live = createLiveView(orThrow(await sessions.open(test.runtime.handle.id)))
    const until = (fits: () => boolean) =>
      new Promise<void>((resolve) => {
        const stop = live.subscribe(() => {
          if (!fits()) return
          stop()
          resolve()
        })
      })
    await until(() => live.here?.credentialsConfigured === false)
    const received = until(() => live.here?.credentialsConfigured === true)
    await sessions.refreshCredentials()
    await received
    expect(live.here?.endpoint).toBe('https://models.example/v1')
    live.close()
  })

  it('selects models, counts tokens and refreshes keys like a local one', async () => {
    await using test = await openRuntimeServer({}, keyedModels())
    const sessions = connectSessions({ url: test.server.url, token: test.tokens.driver })
    const session = createSession(orThrow(await sessions.open(test.runtime.handle.id)))
    await expect(session.sendPrompt('go')).rejects.toMatchObject({ code: 'no_credentials' })
    expect(await session.credentialsConfigured()).toBe(false)
    expect(await sessions.refreshCredentials()).toEqual({ ok: true, value: aModelList })
    expect(await session.refreshCredentials()).toMatchObject({ credentialsConfigured: true })
    expect(await session.getAvailableModels()).toEqual(aModelList.models)
    await expect(session.cycleModel()).rejects.toMatchObject({ code: 'no_rotation' })
    expect(await session.cycleThinkingLevel()).toMatchObject({ thinkingLevel: 'low' })
    await session.sendPrompt('go')
    for await (const frame of session.subscribe({ after: 0 }))
      if (frame.type === 'record' && frame.record.event.type === 'turn.ended') break
    const used = { ...noUsage, input: 100, output: 10, cost: null }
    expect([await session.usage(), await session.turnUsage(), await session.usage({ tree: true })]).toEqual([
      used,
      used,
      used,
    ])
    expect(await session.contextUsage()).toMatchObject({ tokens: 110, isEstimate: false, contextTokens: null })
    expect(await (await test.call(`${test.path}/usage`)).json()).toEqual({ usage: used, sessions: 1 })
  })
})
