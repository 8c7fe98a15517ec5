import { noUsage, ok } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { createFakeHandle } from '../testing/fake-handle.ts'
import { meta, snapshot, view } from '../testing/story.ts'
import { createSession } from './session.ts'

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
