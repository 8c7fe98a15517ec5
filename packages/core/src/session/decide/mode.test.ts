import { type EventInput, requested, stateAfter, thinking } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events, phases } from '../../testing/deciding.ts'

const plan: EventInput = { type: 'settings.changed', mode: 'plan' }
const answered: EventInput = { type: 'text.said', turn: 0, step: 5, text: 'First this, then that.', provider: 'sim' }
const keep = asked({ type: 'enterExec', keepPlan: true })

describe('leaving plan mode', () => {
  it('with the plan kept pins the last answer', () => {
    expect(events(stateAfter(plan, ...thinking, answered, { ...answered, text: 'No: that.' }), keep)).toEqual([
      { type: 'settings.changed', mode: 'exec' },
      { type: 'message.pinned', message: 7, pinned: true, tokens: 7 },
    ])
  })

  it('pins nothing unless it is asked to, or when nothing was said', () => {
    expect(decided(stateAfter(plan, ...thinking, answered), asked({ type: 'enterExec' }))).toBe('settings.changed')
    expect(decided(stateAfter(plan), keep)).toBe('settings.changed')
  })

  it('keeps the plan also when plan mode is left already', () => {
    expect(decided(stateAfter(...thinking, { ...answered, step: 4 }), keep)).toBe('message.pinned')
    expect(decided(phases.idle, keep)).toBe('')
  })

  it('cancels no question', () => {
    expect(decided(stateAfter(...requested, plan), asked({ type: 'enterExec' }))).toBe('settings.changed')
  })
})
