import { type ListedModel, noUsage, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { meta, snapshot, view } from '../testing/story.ts'
import { createSession } from './session.ts'

/** A session that answers every command so. */
const answering = (result: Record<string, unknown>, state = snapshot(10)) =>
  createSession({
    ...createFakeHandle().handle,
    submit: async () => ok({ seq: 1, result }),
    snapshot: async () => ok(state),
  })

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

describe('choosing a model', () => {
  it('goes round, and says where it arrived', async () => {
    const to = { model: 'demo/agent', index: 1, total: 2, thinkingLevel: 'low' }
    expect(await answering(to).cycleModel()).toEqual(to)
    expect(await answering({ thinkingLevel: 'high' }).cycleThinkingLevel()).toBe('high')
  })

  it('says which level holds, also where there was no other to go to', async () => {
    const state = snapshot(10, { view: { ...view, thinkingLevel: 'medium' } })
    expect(await answering({}, state).cycleThinkingLevel()).toBe('medium')
  })

  it('sends the commands of these names, with which way and in whose name', async () => {
    const { handle, submitted } = createFakeHandle()
    const session = createSession(handle)
    await session.cycleModel({ direction: 'previous', as: 'tab-1' }).catch(() => undefined) // the fake knows no models
    await session.cycleThinkingLevel({ as: 'tab-1' })
    expect(await session.refreshCredentials()).toBe(true)
    expect(submitted).toEqual([
      [{ type: 'cycleModel', direction: 'previous' }, { as: 'tab-1' }],
      [{ type: 'cycleThinkingLevel' }, { as: 'tab-1' }],
      [{ type: 'refreshCredentials' }, undefined],
    ])
  })

  it('lists what can be called, and nothing else', async () => {
    const models = [listed('demo/agent', null), listed('openai/gpt', 'It has no key.')]
    const session = createSession({ ...createFakeHandle().handle, models: async () => ok({ models, providers: [] }) })
    expect((await session.getAvailableModels()).map(({ model }) => model)).toEqual(['demo/agent'])
  })

  it('says of what it talks to what is known, and null where nobody knows', async () => {
    const known = snapshot(10)
    const here = known.here && { ...known.here, contextTokens: null, thinkingLevels: ['off' as const] }
    expect((await answering({}, known).getProvider()).abilities).toMatchObject({ contextTokens: 200_000 })
    expect((await answering({}, snapshot(10, { here })).getProvider()).abilities).toEqual({
      contextTokens: null,
      files: ['image/*', 'application/pdf'],
      thinkingLevels: ['off'],
    })
  })
})

const session = (state = snapshot(10)) =>
  createSession({
    ...createFakeHandle().handle,
    snapshot: async () => ok(state),
    treeUsage: async () => ok({ usage: { ...noUsage, cost: null }, sessions: 3 }),
  })

describe('what a session used', () => {
  it('is told of itself, of its turn, and with all that were started for it', async () => {
    const turnUsage = { ...noUsage, input: 7, cost: 0.5 }
    const one = session(snapshot(10, { view: { ...view, turnUsage } }))
    expect([await one.usage(), await one.turnUsage()]).toEqual([meta.usage, turnUsage])
    expect(await one.usage({ tree: true })).toEqual({ ...noUsage, cost: null })
    expect(await session().turnUsage()).toBeNull()
  })

  it('fills the context so far', async () => {
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
