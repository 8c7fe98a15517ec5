import { type ListedModel, noUsage, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { meta, snapshot, view } from '../testing/story.ts'
import { createSession } from './session.ts'

/** A session that answers every command so. */
const answering = (result: Record<string, unknown>, state = snapshot(10)) => {
  const { handle, setState } = createFakeHandle()
  setState(state)
  return createSession({ ...handle, submit: async () => ok({ seq: 1, result }) })
}

const listed = (model: string, unusable: string | null): ListedModel => ({
  model,
  title: null,
  contextTokens: null,
  outputTokens: null,
  price: null,
  takes: null,
  tools: null,
  thinkingLevels: null,
  unusable,
})

describe('the model methods of a session', () => {
  it('cycle through the rotation and return the new entry', async () => {
    const to = { model: 'demo/agent', index: 1, total: 2, thinkingLevel: 'low' }
    expect(await answering(to).cycleModel()).toEqual({ seq: 1, ...to })
    expect(await answering({ thinkingLevel: 'high' }).cycleThinkingLevel()).toEqual({ seq: 1, thinkingLevel: 'high' })
  })

  it('return the thinking level, also when there is only one', async () => {
    const state = snapshot(10, { view: { ...view, thinkingLevel: 'medium' } })
    expect(await answering({}, state).cycleThinkingLevel()).toEqual({ seq: 1, thinkingLevel: 'medium' })
  })

  it('send the commands of the same names, with direction and client', async () => {
    const { handle, submitted } = createFakeHandle()
    const session = createSession(handle)
    await session.cycleModel({ direction: 'previous', as: 'tab-1' }).catch(() => undefined) // the fake knows no models
    await session.cycleThinkingLevel({ as: 'tab-1' })
    expect(await session.refreshCredentials()).toEqual({ seq: 11, credentialsConfigured: true })
    expect(submitted).toEqual([
      [{ type: 'cycleModel', direction: 'previous' }, { as: 'tab-1' }],
      [{ type: 'cycleThinkingLevel' }, { as: 'tab-1' }],
      [{ type: 'refreshCredentials' }, undefined],
    ])
  })

  it('list only models that can be called', async () => {
    const models = [listed('demo/agent', null), listed('openai/gpt', 'It has no key.')]
    const session = createSession({ ...createFakeHandle().handle, models: async () => ok({ models, providers: [] }) })
    expect((await session.getAvailableModels()).map(({ model }) => model)).toEqual(['demo/agent'])
  })

  it('return what is known about the provider, and null for the rest', async () => {
    const known = snapshot(10)
    const here = known.here && { ...known.here, contextTokens: null, thinkingLevels: ['off' as const] }
    expect((await answering({}, known).getProvider()).abilities).toMatchObject({ contextTokens: 200_000 })
    expect((await answering({}, snapshot(10, { here })).getProvider()).abilities).toEqual({
      contextTokens: null,
      files: null,
      thinkingLevels: ['off'],
    })
  })
})

const session = (state = snapshot(10)) => {
  const { handle, setState } = createFakeHandle()
  setState(state)
  return createSession({
    ...handle,
    treeUsage: async () => ok({ usage: { ...noUsage, cost: null }, sessions: 3 }),
  })
}

describe('the usage methods of a session', () => {
  it('return the usage of the session, of its turn, and with all descendants', async () => {
    const turnUsage = { ...noUsage, input: 7, cost: 0.5 }
    const one = session(snapshot(10, { view: { ...view, turnUsage } }))
    expect([await one.usage(), await one.turnUsage()]).toEqual([meta.usage, turnUsage])
    expect(await one.usage({ tree: true })).toEqual({ ...noUsage, cost: null })
    expect(await session().turnUsage()).toBeNull()
  })

  it('return how full the context is', async () => {
    const state = snapshot(10, { view: { ...view, tokens: 50_000, isEstimate: false } })
    expect(await session(state).contextUsage()).toEqual({
      tokens: 50_000,
      contextTokens: 200_000,
      share: 0.25,
      isEstimate: false,
    })
    expect(await session({ ...state, here: null }).contextUsage()).toMatchObject({ share: 0.25, contextTokens: null })
  })
})
