import { Message } from '@holdfast/protocol'
import { describe, expect, it } from 'vitest'
import { estimatedPx, promptFrom, rowsOf } from './rows.ts'
import { turnsOf } from './turns.ts'

const common = { parent: null, at: '2026-03-12T12:00:00Z', pinned: false, collapsed: false }
const user = (id: number, turn: number, text = 'hi') =>
  Message.parse({ kind: 'user', ...common, id, turn, text, parts: [{ type: 'text', text }] })
const answer = (id: number, turn: number, text = 'ok') =>
  Message.parse({ kind: 'assistant', ...common, id, turn, step: id, text })
const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, cost: 0 }
const step = (id: number, turn: number) =>
  Message.parse({ kind: 'usage', ...common, id, turn, step: id, finish: 'stop', usage })

describe('the rows of a transcript', () => {
  const turns = turnsOf([user(1, 0), answer(2, 0), step(3, 0), user(4, 1), answer(5, 1), step(6, 1)])
  const rows = rowsOf(turns)

  it('has a row for each message, and one for the end of each turn but the last', () => {
    expect(rows.map(({ key }) => key)).toEqual([1, 2, 'end-0', 4, 5])
    expect(rows[2]).toMatchObject({ type: 'end', usage: { input: 10 }, at: common.at })
  })

  it('keeps the objects of rows whose turn did not change', () => {
    expect(rowsOf(turns)[0]).toBe(rows[0])
  })

  it('finds the prompts of the turns before and after', () => {
    expect(promptFrom(rows, 4, -1)).toBe(3)
    expect(promptFrom(rows, 3, -1)).toBe(0)
    expect(promptFrom(rows, 0, -1)).toBe(-1)
    expect(promptFrom(rows, 0, 1)).toBe(3)
    expect(promptFrom(rows, 3, 1)).toBe(-1)
  })

  it('expects a long text to be higher', () => {
    const [short, long] = rowsOf(turnsOf([user(1, 0), answer(2, 0, 'word '.repeat(400))]))
    expect(short && long && estimatedPx(long) > 10 * estimatedPx(short) - 400).toBe(true)
  })
})
