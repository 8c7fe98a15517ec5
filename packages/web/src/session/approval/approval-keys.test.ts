import { describe, expect, it } from 'vitest'
import { decisionOf, isAtCards, keyOf, noteAnswer } from './approval-keys.ts'

const key = (key: string, more: object = {}) => ({
  key,
  code: `Key${key.toUpperCase()}`,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  ...more,
})

describe('a key on a card', () => {
  it('is y for once, t for the turn, s for the session, a for always and n for no', () => {
    const decided = ['y', 't', 's', 'a', 'n', 'N', 'q', 'Enter'].map((one) => decisionOf(key(one)))
    expect(decided).toEqual([
      ...['approve', 'approve_turn', 'approve_session', 'approve_always', 'reject', 'reject'],
      ...[null, null],
    ])
    expect(keyOf('approve_always')).toBe('a')
  })

  it('decides nothing with Ctrl, Alt or Command, while it is held down, or as part of a longer character', () => {
    const others = [{ ctrlKey: true }, { altKey: true }, { metaKey: true }, { repeat: true }, { isComposing: true }]
    expect(others.map((more) => decisionOf(key('y', more)))).toEqual([null, null, null, null, null])
  })
})

it('expects the next card for some seconds after a person answered one', () => {
  expect(isAtCards(performance.now())).toBe(false)
  noteAnswer()
  expect([isAtCards(performance.now()), isAtCards(performance.now() + 6000)]).toEqual([true, false])
})
