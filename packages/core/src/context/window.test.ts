import { callOf, recordsOf, settled, stepEnded, thinking, userSaid } from '@holdfast/testkit'
import { describe, expect, it } from 'vitest'
import { toWindow } from './window.ts'

describe('the window', () => {
  it('has everything the model sees, and nothing that is only for people', () => {
    const records = recordsOf([
      ...thinking,
      stepEnded,
      { type: 'note.added', turn: 0, kind: 'notice', level: 'info', text: 'x' },
    ])
    expect(toWindow({ summary: null, from: 0, records, settled: [] }).messages.map(({ event }) => event.type)).toEqual([
      'user.said',
    ])
  })

  it('pairs each call with its outcome, if it has one', () => {
    const records = recordsOf([userSaid('go'), callOf('a'), callOf('b')])
    const { messages } = toWindow({ summary: null, from: 0, records, settled: recordsOf([settled(2)], 9) })
    expect(messages.map(({ outcome }) => outcome?.type ?? null)).toEqual([null, 'ok', null])
  })
})
