import { stateAfter } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { asked, events } from '../../testing/deciding.ts'

const state = stateAfter({
  type: 'call.requested',
  turn: 0,
  step: 2,
  tool: 'look',
  args: {},
  provider: 'seed',
  givenId: 'a',
})
const settled = { type: 'call.settled', call: 2, outcome: { type: 'interrupted', code: 'cancelled' } }

describe('a call that a program has not answered', () => {
  it('is settled once a turn of the session begins', () => {
    expect(events(state, asked({ type: 'sendPrompt', content: 'go on' }))).toMatchObject([
      { type: 'turn.started' },
      { type: 'user.said' },
      settled,
    ])
  })

  it('is settled once its line is left, and stays open on the line it is on', () => {
    const left = events(state, asked({ type: 'setHistory', messages: [] }))
    expect(left).toMatchObject([{ type: 'line.moved' }, settled])
    const kept = events(
      state,
      asked({ type: 'truncateHistory', from: 2 }, { keepFrom: { seq: 2, tokens: 1, messages: 1 } }),
    )
    expect(kept.map(({ type }) => type)).toEqual(['line.moved'])
  })

  it('is not affected by other events', () => {
    expect(events(state, asked({ type: 'setSummary', summary: 'so far' })).map(({ type }) => type)).toEqual([
      'checkpoint.written',
    ])
  })
})
