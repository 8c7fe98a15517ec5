import { Message, type ModelFault, type Usage } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { openingOf, summarizeTurn, turnsOf } from './turns.ts'

const common = { parent: null, at: '2026-03-12T12:00:00Z', pinned: false, collapsed: false }
const user = (id: number, turn: number) =>
  Message.parse({ kind: 'user', ...common, id, turn, text: 'hi', parts: [{ type: 'text', text: 'hi' }] })
const step = (id: number, turn: number, usage: Usage | null, fault?: ModelFault) =>
  Message.parse({ kind: 'usage', ...common, id, turn, step: id, finish: 'stop', usage, ...(fault && { fault }) })
const usage = (cost: number | null): Usage => ({ input: 10, output: 1, cacheRead: 0, cacheWrite: 0, cost })
const limited: ModelFault = { kind: 'rate_limited', message: 'Too many requests.' }

describe('turns of a transcript', () => {
  it('groups messages by turn, in order', () => {
    const messages = [user(1, 0), step(2, 0, null), user(3, 1)]
    expect(turnsOf(messages).map(({ turn, messages }) => [turn, messages.map(({ id }) => id)])).toEqual([
      [0, [1, 2]],
      [1, [3]],
    ])
  })

  it('sums the usage of a turn; the cost is unknown if one is', () => {
    expect(summarizeTurn([step(1, 0, usage(1)), step(2, 0, usage(2))]).usage?.cost).toBe(3)
    expect(summarizeTurn([step(1, 0, usage(1)), step(2, 0, usage(null))]).usage).toMatchObject({
      input: 20,
      cost: null,
    })
    expect(summarizeTurn([user(1, 0), step(2, 0, null)]).usage).toBeNull()
    expect(summarizeTurn([step(1, 0, usage(1)), step(2, 0, null)]).usage).toMatchObject({ input: 10, cost: null })
  })

  it('shows no zeros for an answer that was stopped', () => {
    const zeros: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }
    expect(summarizeTurn([user(1, 0), step(2, 0, zeros)]).usage).toBeNull()
    expect(summarizeTurn([step(1, 0, usage(1)), step(2, 0, zeros)]).usage).toMatchObject({ input: 10, cost: 1 })
  })

  it('reports a failure only if nothing came after it', () => {
    expect(summarizeTurn([step(1, 0, null, limited)]).fault).toEqual(limited)
    expect(summarizeTurn([step(1, 0, null, limited), step(2, 0, usage(0))]).fault).toBeNull()
  })

  it('finds the prompt that started a turn, not a steering prompt', () => {
    const note = Message.parse({ kind: 'system', ...common, id: 1, turn: 0, level: 'info', text: 'hello' })
    expect(openingOf([note, user(2, 0), step(3, 0, null), user(4, 0)])?.id).toBe(2)
    expect(openingOf([step(3, 0, null), user(4, 0)])).toBeUndefined() // its beginning is not loaded
  })
})
