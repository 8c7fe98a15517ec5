import { type EventInput, recordsOf, userSaid } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { chooseCut } from './cut.ts'
import { toWindow } from './window.ts'

const text = (step: number): EventInput => ({ type: 'text.said', turn: 0, step, text: 'words', provider: 'sim' })
const call = (step: number): EventInput => ({
  type: 'call.requested',
  turn: 0,
  step,
  tool: 'look',
  args: {},
  provider: 'sim',
})
const started: EventInput = { type: 'step.started', turn: 0, model: 'sim/m', thinkingLevel: 'off', attempt: 1 }
const windowOf = (...given: readonly EventInput[]) => {
  const records = recordsOf(given)
  return toWindow({ summary: null, from: 0, records, settled: records })
}

describe('the cut of a window', () => {
  it('is before the last six messages', () => {
    const given = Array.from({ length: 8 }, (_, index) => userSaid(`${index}`))
    expect(chooseCut(windowOf(...given), null)).toMatchObject({
      keepFrom: 3,
      prompt: null,
      cut: [{ seq: 1 }, { seq: 2 }],
    })
  })

  it('is null for a shorter window', () => {
    expect(chooseCut(windowOf(...Array.from({ length: 6 }, () => userSaid('a'))), null)).toBeNull()
    expect(chooseCut(windowOf(), null)).toBeNull()
  })

  it('is never inside an answer: the kept part is widened to its step', () => {
    // 1 user, 2 step, 3 text, 4..10 calls of step 2
    const given = [userSaid('go'), started, text(2), ...Array.from({ length: 7 }, () => call(2))]
    expect(chooseCut(windowOf(...given), null)).toMatchObject({ keepFrom: 2, cut: [{ seq: 1 }] })
    expect(chooseCut(windowOf(...given.slice(1)), null)).toBeNull()
  })

  it('keeps the prompt of the running turn, and does not count it as saved', () => {
    const given = [userSaid('a long prompt'), ...Array.from({ length: 7 }, (_, index) => text(index + 20))]
    const running = chooseCut(windowOf(...given), 0)
    const resting = chooseCut(windowOf(...given), null)
    expect(running).toMatchObject({ prompt: 1 })
    expect(resting).toMatchObject({ prompt: null })
    expect(resting?.savedTokens).toBeGreaterThan(running?.savedTokens ?? 0)
  })
})
