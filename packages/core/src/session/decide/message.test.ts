import { limits } from '@holdfast/protocol'
import { type EventInput, stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, decided, events } from '../../testing/deciding.ts'

const pinned = (message: number, tokens: number): EventInput => ({
  type: 'message.pinned',
  message,
  pinned: true,
  tokens,
})
const toggle = (message: number, tokens: number, isTold = true, contextTokens = 1000) =>
  asked({ type: 'togglePin', message }, { message: { isTold, isCall: false, tokens }, contextTokens })

describe('pinning', () => {
  it('keeps a message, and lets go of one that is kept', () => {
    expect(events(stateAfter(), toggle(5, 7))).toEqual([
      { type: 'message.pinned', message: 5, pinned: true, tokens: 7 },
    ])
    expect(events(stateAfter(pinned(5, 7)), toggle(5, 7))).toEqual([
      { type: 'message.pinned', message: 5, pinned: false },
    ])
  })

  it('lets go of a message that is no longer on the line', () => {
    expect(decided(stateAfter(pinned(5, 7)), asked({ type: 'togglePin', message: 5 }))).toBe('message.pinned')
  })

  it('is refused beyond a quarter of the context', () => {
    expect(decided(stateAfter(pinned(5, 200)), toggle(6, 50))).toBe('message.pinned')
    expect(decided(stateAfter(pinned(5, 200)), toggle(6, 51))).toBe('context_too_large')
  })

  it('is refused beyond so many messages', () => {
    const many = Array.from({ length: limits.pinsMax }, (_, index) => pinned(index + 10, 0))
    expect(decided(stateAfter(...many), toggle(5, 0))).toBe('context_too_large')
  })

  it('is refused for what is not there, or is never told to the model', () => {
    expect(decided(stateAfter(), asked({ type: 'togglePin', message: 5 }))).toBe('message_not_found')
    expect(decided(stateAfter(), toggle(5, 7, false))).toBe('bad_request')
  })
})

describe('folding', () => {
  const fold = (message: number) =>
    asked({ type: 'toggleToolCollapse', message }, { message: { isTold: true, isCall: true, tokens: 0 } })
  const all = asked({ type: 'toggleAllToolCollapses' })
  const folded = (message: number | null, collapsed: boolean): EventInput => ({
    type: 'message.collapsed',
    message,
    collapsed,
  })

  it('turns one call over, by itself and against the rule for all', () => {
    expect(events(stateAfter(), fold(5))).toMatchObject([{ message: 5, collapsed: true }])
    expect(events(stateAfter(folded(5, true)), fold(5))).toMatchObject([{ message: 5, collapsed: false }])
    expect(events(stateAfter(folded(null, true)), fold(5))).toMatchObject([{ message: 5, collapsed: false }])
  })

  it('opens all when any is folded, and folds all when none is', () => {
    expect(events(stateAfter(), all)).toMatchObject([{ message: null, collapsed: true }])
    expect(events(stateAfter(folded(5, true)), all)).toMatchObject([{ message: null, collapsed: false }])
    expect(events(stateAfter(folded(null, true)), all)).toMatchObject([{ message: null, collapsed: false }])
  })

  it('is of tool calls only', () => {
    const text = asked(
      { type: 'toggleToolCollapse', message: 5 },
      { message: { isTold: true, isCall: false, tokens: 0 } },
    )
    expect(decided(stateAfter(), text)).toBe('message_not_found')
  })
})

describe('a system message', () => {
  it('is for people, and says something', () => {
    expect(events(stateAfter(), asked({ type: 'addSystemMessage', text: 'look', level: 'error' }))).toEqual([
      { type: 'note.added', turn: 0, kind: 'system', level: 'error', text: 'look' },
    ])
    expect(decided(stateAfter(), asked({ type: 'addSystemMessage', text: ' ' }))).toBe('empty_prompt')
  })
})
