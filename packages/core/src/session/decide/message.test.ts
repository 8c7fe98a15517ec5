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
  it('pins a message, and unpins a pinned one', () => {
    expect(events(stateAfter(), toggle(5, 7))).toEqual([
      { type: 'message.pinned', message: 5, pinned: true, tokens: 7 },
    ])
    expect(events(stateAfter(pinned(5, 7)), toggle(5, 7))).toEqual([
      { type: 'message.pinned', message: 5, pinned: false },
    ])
  })

  it('unpins a message that is no longer on the line', () => {
    expect(decided(stateAfter(pinned(5, 7)), asked({ type: 'togglePin', message: 5 }))).toBe('message.pinned')
  })

  it('is refused beyond a quarter of the context', () => {
    expect(decided(stateAfter(pinned(5, 200)), toggle(6, 50))).toBe('message.pinned')
    expect(decided(stateAfter(pinned(5, 200)), toggle(6, 51))).toBe('context_too_large')
  })

  it('is refused beyond the limit of messages', () => {
    const many = Array.from({ length: limits.pinsMax }, (_, index) => pinned(index + 10, 0))
    expect(decided(stateAfter(...many), toggle(5, 0))).toBe('context_too_large')
  })

  it('is refused for a missing message or one that the model never sees', () => {
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

  it('toggles one call, also against the setting for all', () => {
    expect(events(stateAfter(), fold(5))).toMatchObject([{ message: 5, collapsed: true }])
    expect(events(stateAfter(folded(5, true)), fold(5))).toMatchObject([{ message: 5, collapsed: false }])
    expect(events(stateAfter(folded(null, true)), fold(5))).toMatchObject([{ message: 5, collapsed: false }])
  })

  it('expands all when any is collapsed, and collapses all when none is', () => {
    expect(events(stateAfter(), all)).toMatchObject([{ message: null, collapsed: true }])
    expect(events(stateAfter(folded(5, true)), all)).toMatchObject([{ message: null, collapsed: false }])
    expect(events(stateAfter(folded(null, true)), all)).toMatchObject([{ message: null, collapsed: false }])
  })

  it('applies to tool calls only', () => {
    const text = asked(
      { type: 'toggleToolCollapse', message: 5 },
      { message: { isTold: true, isCall: false, tokens: 0 } },
    )
    expect(decided(stateAfter(), text)).toBe('message_not_found')
  })
})

describe('a system message', () => {
  it('is shown to people and must not be empty', () => {
    expect(events(stateAfter(), asked({ type: 'addSystemMessage', text: 'look', level: 'error' }))).toEqual([
      { type: 'note.added', turn: 0, kind: 'system', level: 'error', text: 'look' },
    ])
    expect(decided(stateAfter(), asked({ type: 'addSystemMessage', text: ' ' }))).toBe('empty_prompt')
  })
})
