import { describe, expect, it } from 'vitest'
import type { Event, EventOf } from '../event/event.ts'
import { TurnNumber } from '../value/id.ts'
import { addUsage, noUsage, type Usage } from '../value/usage.ts'
import { turnUsageAfter } from './usage-count.ts'

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
