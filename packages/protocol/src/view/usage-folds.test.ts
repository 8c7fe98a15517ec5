import { describe, expect, it } from 'vitest'
import type { Event, EventOf } from '../event/event.ts'
import { TurnNumber } from '../value/id.ts'
import { addUsage, noUsage, type Usage } from '../value/usage.ts'
import { isEstimateAfter, tokensAfter, turnUsageAfter } from './usage-folds.ts'

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

  it('encodes the arguments of a call once, however many folds count them', () => {
    let reads = 0
    const args = {
      get text() {
        reads++
        return 'x'.repeat(400)
      },
    }
    const requested: Event = {
      type: 'call.requested',
      turn,
      step: 4 as never,
      tool: 'write_file',
      args,
      provider: 'p1',
    }
    const first = after(counted, requested)
    expect(after(counted, requested)).toEqual(first)
    expect(first.tokens).toBeGreaterThan(1170)
    expect(reads).toBe(1)
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

const used = (cost: number | null) => ({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4, cost })

describe('usage', () => {
  it('is added up', () => {
    expect(addUsage(addUsage(noUsage, used(0.5)), used(0.25))).toEqual({
      input: 2,
      output: 4,
      cacheRead: 6,
      cacheWrite: 8,
      cost: 0.75,
    })
  })

  it('has an unknown cost once one cost is unknown', () => {
    expect(addUsage(addUsage(noUsage, used(null)), used(0.25)).cost).toBeNull()
  })
})

describe('the usage of a turn', () => {
  const turn = TurnNumber.parse(0)
  const begun = (cause: EventOf<'turn.started'>['cause']): Event => ({ type: 'turn.started', turn, cause })
  const ended = (cost: number | null): Event => {
    return { type: 'step.ended', turn, step: 4 as never, finish: 'stop', usage: used(cost) }
  }
  const after = (...events: readonly Event[]) =>
    events.reduce<Usage | null>((sum, event) => turnUsageAfter(sum, event, true), null)

  it('is the sum of its calls and restarts with the next turn', () => {
    expect(after(begun('prompt'), ended(0.5), ended(0.25))).toMatchObject({ input: 2, cost: 0.75 })
    expect(after(begun('prompt'), ended(0.5), begun('follow_up'))).toEqual(noUsage)
    expect(after(begun('prompt'), ended(0.5), ended(null))).toMatchObject({ input: 2, cost: null })
  })

  it('has an unknown cost after an answer without usage, but not after a failed or aborted call', () => {
    const uncounted = (finish: EventOf<'step.ended'>['finish']): Event => {
      return { type: 'step.ended', turn, step: 4 as never, finish, usage: null, estimate: used(9) }
    }
    for (const finish of ['stop', 'calls', 'length', 'refused'] as const) {
      expect(after(begun('prompt'), ended(0.5), uncounted(finish))).toEqual(used(null))
    }
    for (const finish of ['failed', 'aborted', 'interrupted'] as const) {
      expect(after(begun('prompt'), ended(0.5), uncounted(finish))).toEqual(used(0.5))
    }
  })

  it('continues with a continued turn', () => {
    expect(after(begun('prompt'), ended(0.5), begun('continue'), ended(0.25))).toMatchObject({ cost: 0.75 })
  })

  it('is null before the first turn, and excludes calls made between turns', () => {
    expect(after(ended(0.5))).toBeNull()
    expect(turnUsageAfter(noUsage, ended(0.5), false)).toEqual(noUsage)
  })
})
