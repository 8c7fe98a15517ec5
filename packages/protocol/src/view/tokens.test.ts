import { describe, expect, it } from 'vitest'
import type { Event } from '../event/event.ts'
import { TurnNumber } from '../value/id.ts'
import { noUsage, type Usage } from '../value/usage.ts'
import { isEstimateAfter, tokensAfter } from './tokens.ts'

const turn = TurnNumber.parse(0)
const said: Event = { type: 'user.said', turn, content: [{ type: 'text', text: 'x'.repeat(400) }] }
const ended = (usage: Usage | null): Event => ({ type: 'step.ended', turn, step: 4 as never, finish: 'stop', usage })
const counted = ended({ ...noUsage, input: 100, cacheRead: 900, cacheWrite: 50, output: 20 })

/** How many tokens the window holds after these, and whether that is a guess. */
const after = (...events: readonly Event[]) =>
  events.reduce(
    ({ tokens, isEstimate }, event) => ({
      tokens: tokensAfter(tokens, event),
      isEstimate: isEstimateAfter(isEstimate, event),
    }),
    { tokens: 0, isEstimate: true },
  )

describe('the size of a window', () => {
  it('is what the provider counted, caches too', () => {
    expect(after(said, counted)).toEqual({ tokens: 1070, isEstimate: false })
  })

  it('is guessed before a provider counts, and from what is added since', () => {
    expect(after(said)).toEqual({ tokens: 104, isEstimate: true })
    expect(after(said, counted, said)).toEqual({ tokens: 1174, isEstimate: true })
    expect(after(said, counted, said, counted)).toEqual({ tokens: 1070, isEstimate: false })
  })

  it('stays as it was where the provider counted nothing', () => {
    expect(after(said, ended(null))).toEqual({ tokens: 104, isEstimate: true })
    expect(after(said, counted, ended(noUsage))).toEqual({ tokens: 1070, isEstimate: false })
    expect(after(said, counted, { type: 'turn.ended', turn, reason: 'done' })).toEqual({
      tokens: 1070,
      isEstimate: false,
    })
  })
})
