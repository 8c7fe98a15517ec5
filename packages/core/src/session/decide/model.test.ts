import type { RotationEntry, ThinkingLevel } from '@holdfast/protocol'
import { stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events } from '../../testing/deciding.ts'
import type { SessionCommandInput } from '../../testing/each-command.ts'
import { answerOf } from '../answer.ts'
import { evolve } from '../evolve.ts'
import type { Facts } from '../input.ts'
import type { SessionState } from '../state.ts'

const standing = (model: string, thinkingLevel: ThinkingLevel = 'off') =>
  stateAfter({ type: 'settings.changed', model, thinkingLevel })

/** What a command is answered; the fault where it is refused, nothing where nothing changes. */
function answered(state: SessionState, command: SessionCommandInput, facts: Facts): unknown {
  const [event] = events(state, asked(command, facts))
  if (!event) return decided(state, asked(command, facts)) || {}
  return answerOf({ seq: 9, at: '', v: 1, event }).result
}

const a: RotationEntry = { model: 'sim/a' }
const b: RotationEntry = { model: 'sim/b', thinkingLevel: 'high' }
const c: RotationEntry = { model: 'sim/c' }

describe('cycleModel', () => {
  const cycle = (state: SessionState, rotation: readonly RotationEntry[], direction?: 'next' | 'previous') =>
    answered(state, { type: 'cycleModel', ...(direction && { direction }) }, { rotation })

  it('goes to the next or the previous entry, and wraps around', () => {
    const rotation = [a, b, c]
    const total = 3
    const toB = { model: 'sim/b', index: 1, total, thinkingLevel: 'high' }
    const toC = { model: 'sim/c', index: 2, total, thinkingLevel: 'off' }
    expect([cycle(standing('sim/a'), rotation), cycle(standing('sim/a'), rotation, 'previous')]).toEqual([toB, toC])
    expect(cycle(standing('sim/c'), rotation)).toEqual({ model: 'sim/a', index: 0, total, thinkingLevel: 'off' })
  })

  it('brings the level of an entry that names one, and keeps the present one otherwise', () => {
    expect(cycle(standing('sim/a', 'low'), [a, b])).toMatchObject({ model: 'sim/b', thinkingLevel: 'high' })
    expect(cycle(standing('sim/b', 'high'), [a, b])).toMatchObject({ model: 'sim/a', thinkingLevel: 'high' })
  })

  it('starts at the first entry from a model outside, or backwards at the last', () => {
    expect(cycle(standing('sim/z'), [a, b, c])).toMatchObject({ index: 0 })
    expect(cycle(standing('sim/z'), [a, b, c], 'previous')).toMatchObject({ index: 2 })
  })

  it('tells two entries of one model apart by their levels', () => {
    const rotation: readonly RotationEntry[] = [
      { model: 'sim/a', thinkingLevel: 'off' },
      { ...a, thinkingLevel: 'high' },
      c,
    ]
    expect(cycle(standing('sim/a', 'off'), rotation)).toMatchObject({ index: 1, thinkingLevel: 'high' })
    expect(cycle(standing('sim/a', 'high'), rotation)).toMatchObject({ index: 2, model: 'sim/c' })
  })

  it('is refused when there is no other entry, and says what to do', () => {
    expect([cycle(standing('sim/a'), []), cycle(standing('sim/a'), [a]), cycle(standing('sim/a'), [a, a])]).toEqual([
      'no_rotation',
      'no_rotation',
      'no_rotation',
    ])
    expect(cycle(standing('sim/z'), [a])).toMatchObject({ model: 'sim/a', index: 0, total: 1 })
  })

  it('leaves no trace of the rotation in the settings', () => {
    const state = standing('sim/a')
    const [event] = events(state, asked({ type: 'cycleModel' }, { rotation: [a, b] }))
    expect(event).toBeDefined()
    const next = event && evolve(state, { seq: state.seq + 1, at: '', v: 1, event })
    expect(next?.settings).toEqual({ ...state.settings, model: 'sim/b', thinkingLevel: 'high' })
  })
})

describe('cycleThinkingLevel', () => {
  const cycle = (level: ThinkingLevel, thinkingLevels?: readonly ThinkingLevel[]) =>
    answered(standing('sim/a', level), { type: 'cycleThinkingLevel' }, { thinkingLevels })

  it.each<[ThinkingLevel, ThinkingLevel]>([
    ['off', 'low'],
    ['low', 'medium'],
    ['medium', 'high'],
    ['high', 'off'],
  ])('goes from %s to %s', (from, to) => {
    expect(cycle(from)).toEqual({ thinkingLevel: to })
  })

  it('cycles through the levels that the model knows, from the lowest on', () => {
    expect([cycle('off', ['high', 'off']), cycle('high', ['high', 'off'])]).toEqual([
      { thinkingLevel: 'high' },
      { thinkingLevel: 'off' },
    ])
    expect(cycle('medium', ['high', 'off'])).toEqual({ thinkingLevel: 'off' })
  })

  it('changes nothing when the model knows only one level', () => {
    expect(cycle('off', ['off'])).toEqual({})
  })
})
