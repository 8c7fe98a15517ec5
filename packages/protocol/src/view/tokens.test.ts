import { describe, expect, it } from 'vitest'
import type { Event } from '../event/event.ts'
import { TurnNumber } from '../value/id.ts'
import { noUsage, type Usage } from '../value/usage.ts'
import { isEstimateAfter, tokensAfter } from './tokens.ts'

const turn = TurnNumber.parse(0)
const said: Event = { type: 'user.said', turn, content: [{ type: 'text', text: 'x'.repeat(400) }] }
const ended = (usage: Usage | null): Event => ({ type: 'step.ended', turn, step: 4 as never, finish: 'stop', usage })
const counted = ended({ ...noUsage, input: 100, cacheRead: 900, cacheWrite: 50, output: 20 })

/** Returns the context size after these events, and whether it is an estimate. */
const after = (...events: readonly Event[]) =>
  events.reduce(
    ({ tokens, isEstimate }, event) => ({
      tokens: tokensAfter(tokens, event),
      isEstimate: isEstimateAfter(isEstimate, event),
    }),
    { tokens: 0, isEstimate: true },
  )

describe('the context size', () => {
  it("is the provider's count, caches included", () => {
    expect(after(said, counted)).toEqual({ tokens: 1070, isEstimate: false })
  })

  it('is estimated before the first count and for what is added after it', () => {
    expect(after(said)).toEqual({ tokens: 104, isEstimate: true })
    expect(after(said, counted, said)).toEqual({ tokens: 1174, isEstimate: true })
    expect(after(said, counted, said, counted)).toEqual({ tokens: 1070, isEstimate: false })
  })

  it('does not change when the provider counts nothing', () => {
    expect(after(said, ended(null))).toEqual({ tokens: 104, isEstimate: true })
    expect(after(said, counted, ended(noUsage))).toEqual({ tokens: 1070, isEstimate: false })
    expect(after(said, counted, { type: 'turn.ended', turn, reason: 'done' })).toEqual({
      tokens: 1070,
      isEstimate: false,
    })
  })
})
