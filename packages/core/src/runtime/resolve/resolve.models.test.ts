import { done, type Frame, type FrameOf, fault, refuse, type SessionHandle } from '@holdfast/protocol'
import { aSession, createScriptedModel, isRecord, modelsWith, say } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import type { Models } from '../../ports/provider.ts'
import { openMemoryRuntime } from '../../testing/memory-runtime.ts'
import { createLocalSession } from '../api/local-session.ts'
import { createLocalSessions } from '../api/local-sessions.ts'

const prompt = { type: 'sendPrompt', content: 'go' } as const

/** Models whose key is found at a refresh. */
function keyedModels(): Models {
  const provider = createScriptedModel(() => [say('Hi.')])
  let hasKey = false
  return modelsWith(
    () =>
      hasKey
        ? { type: 'ready', provider, contextTokens: 32_000, thinkingLevels: ['off', 'high'] }
        : { type: 'no_credentials', message: 'Add a key with: holdfast auth login sim' },
    {
      async refresh() {
        hasKey = true
        return done
      },
    },
  )
}

async function nextModel(frames: AsyncIterator<Frame>): Promise<FrameOf<'model'>> {
  for (let next = await frames.next(); !next.done; next = await frames.next()) {
    if (next.value.type === 'model') return next.value
  }
  throw new Error('the stream ended first')
}

/** Subscribes and skips the first frame. */
async function watch(handle: SessionHandle): Promise<AsyncIterator<Frame>> {
  const frames = handle.subscribe()[Symbol.asyncIterator]()
  await frames.next()
  return frames
}

describe('a prompt without credentials', () => {
  it('is refused with a hint, and accepted once credentials are found', async () => {
    const runtime = await openMemoryRuntime({ models: keyedModels() })
    expect(await runtime.send('a', prompt)).toMatchObject({
      ok: false,
      fault: { code: 'no_credentials', message: 'Add a key with: holdfast auth login sim' },
    })
    expect(await runtime.events()).toEqual(['session.started'])
    expect(await runtime.send('b', { type: 'refreshCredentials' })).toMatchObject({ ok: true, value: { result: {} } })
    expect(await runtime.send('a', prompt)).toMatchObject({ ok: true })
    await runtime.frame(isRecord('turn.ended'))
    expect(await runtime.events()).toContain('text.said')
  })

  it('also refuses a model change', async () => {
    const runtime = await openMemoryRuntime({ models: keyedModels() })
    expect(await runtime.send('a', { type: 'setModel', model: 'sim/other' })).toMatchObject({
      ok: false,
      fault: { code: 'no_credentials' },
    })
  })
})

describe('refreshCredentials', () => {
  it('notifies the clients of every loaded session, and leaves no record', async () => {
    const runtime = await openMemoryRuntime({ models: keyedModels() })
    const second = await runtime.registry.start({ workdir: '/work' })
    const other = second.ok ? createLocalSession(runtime.registry, second.value.id) : runtime.handle
    const watching = [await watch(runtime.handle), await watch(other)]
    await runtime.send('a', { type: 'refreshCredentials' })
    for (const [index, frames] of watching.entries()) {
      expect(await nextModel(frames)).toEqual({
        type: 'model',
        sessionId: index === 0 ? aSession : other.id,
        credentialsConfigured: true,
        contextTokens: 32_000,
        thinkingLevels: ['off', 'high'],
      })
      await frames.return?.()
    }
    expect(other.id).not.toBe(aSession)
    expect(await runtime.events()).toEqual(['session.started'])
  })

  it('of all sessions notifies clients too, also those that reconnect with a cursor', async () => {
    const runtime = await openMemoryRuntime({ models: keyedModels() })
    const frames = await watch(runtime.handle)
    expect(await createLocalSessions(runtime.registry).refreshCredentials()).toEqual({
      ok: true,
      value: { models: [], providers: [] },
    })
    expect(await nextModel(frames)).toMatchObject({ credentialsConfigured: true })
    await frames.return?.()
    const back = runtime.handle.subscribe({ after: 1 })[Symbol.asyncIterator]()
    expect(await nextModel(back)).toMatchObject({ credentialsConfigured: true })
    await back.return?.()
  })

  it('is not needed for a local server that is found automatically', async () => {
    let contextTokens = 8000
    let tell: () => void = () => expect.fail('nobody listens')
    const provider = createScriptedModel([])
    const models = modelsWith(() => ({ type: 'ready', provider, contextTokens }), {
      onChanged: (listener) => {
        tell = listener
      },
    })
    const runtime = await openMemoryRuntime({ models })
    const frames = await watch(runtime.handle)
    contextTokens = 16_000
    tell()
    expect(await nextModel(frames)).toMatchObject({ contextTokens: 16_000 })
    await frames.return?.()
  })

  it('that fails is refused with the reason', async () => {
    const models = modelsWith(() => ({ type: 'no_credentials', message: 'no key' }), {
      refresh: async () => refuse(fault('storage_error', 'The file of keys cannot be read.')),
    })
    const runtime = await openMemoryRuntime({ models })
    const refused = { ok: false, fault: { code: 'storage_error', message: 'The file of keys cannot be read.' } }
    expect(await runtime.send('a', { type: 'refreshCredentials' })).toMatchObject(refused)
    expect(await createLocalSessions(runtime.registry).refreshCredentials()).toMatchObject(refused)
  })
})

describe('another model', () => {
  const provider = createScriptedModel([])
  const models = modelsWith(
    (model) => ({
      type: 'ready',
      provider,
      ...(model === 'sim/small' && { contextTokens: 8000, takes: [], thinkingLevels: ['off'] as const }),
    }),
    { rotation: () => [{ model: 'sim/model' }, { model: 'sim/small' }] },
  )

  it('is published with its details after the record that sets it', async () => {
    const runtime = await openMemoryRuntime({ models })
    const frames = await watch(runtime.handle)
    await runtime.send('a', { type: 'setModel', model: 'sim/small' })
    expect((await frames.next()).value).toMatchObject({ record: { event: { model: 'sim/small' } } })
    expect((await frames.next()).value).toEqual({
      type: 'model',
      sessionId: aSession,
      credentialsConfigured: true,
      contextTokens: 8000,
      takes: [],
      thinkingLevels: ['off'],
    })
    await frames.return?.()
  })

  it('is the next of the rotation, and a retry gets the same answer', async () => {
    const runtime = await openMemoryRuntime({ models })
    const to = { model: 'sim/small', index: 1, total: 2, thinkingLevel: 'off' }
    const first = await runtime.send('a', { type: 'cycleModel' })
    expect(first).toMatchObject({ ok: true, value: { result: to } })
    expect(await runtime.send('a', { type: 'cycleModel' })).toEqual(first)
    expect(await runtime.send('b', { type: 'cycleModel', direction: 'next' })).toMatchObject({
      value: { result: { model: 'sim/model', index: 0 } },
    })
  })

  it('is not asked for a thinking level that it does not support', async () => {
    const runtime = await openMemoryRuntime({ models })
    expect(await runtime.send('a', { type: 'setThinkingLevel', level: 'high' })).toMatchObject({ ok: true })
    await runtime.send('b', { type: 'setModel', model: 'sim/small' })
    expect(await runtime.send('c', { type: 'setThinkingLevel', level: 'low' })).toMatchObject({
      ok: false,
      fault: { code: 'unknown_level', details: { known: ['off'] }, message: expect.stringContaining('It has: off.') },
    })
    expect(await runtime.send('d', { type: 'cycleThinkingLevel' })).toMatchObject({
      value: { result: { thinkingLevel: 'off' } },
    })
  })

  it('is the model a level is checked against, even if it changes during the check', async () => {
    const runtime = await openMemoryRuntime({ models })
    const [, level] = await Promise.all([
      runtime.send('a', { type: 'setModel', model: 'sim/small' }),
      runtime.send('b', { type: 'setThinkingLevel', level: 'low' }),
    ])
    expect(level).toMatchObject({ ok: false, fault: { code: 'unknown_level' } })
  })
})
