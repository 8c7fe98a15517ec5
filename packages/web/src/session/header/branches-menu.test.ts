import { Branch, type ListedBranch, type Message } from '@holdfast/protocol'
import { aMessage } from '@holdfast/testkit/fixtures'
import { describe, expect, it } from 'vitest'
import type { ReadBranch } from '../state/branches.ts'
import { partingsOf } from './branches-menu.tsx'

const user = (id: number, turn: number, parent: number | null) =>
  aMessage('user', { id, turn, parent, text: `prompt ${turn}` })
const branch = (name: string, first: Message | null, turns = 5): ReadBranch => {
  const listed: ListedBranch = {
    ...Branch.parse({ name, turns, messages: 9, at: '2026-03-12T12:00:00.000Z' }),
    differsAt: first?.id ?? null,
  }
  return { ...listed, first, last: null }
}
const drawn = (branches: readonly ReadBranch[], known: readonly Message[] = []) =>
  partingsOf(branches, known).map(({ turn, branches }) => [turn, branches.map(({ name }) => name)])

describe('branches on the line', () => {
  it('are grouped under the turn after which they diverge, in order', () => {
    expect(
      drawn([branch('late', user(40, 3, 38)), branch('early', user(12, 1, 9)), branch('too', user(50, 3, 38))]),
    ).toEqual([
      [0, ['early']],
      [2, ['late', 'too']],
    ])
  })

  it('are at the start when they share nothing with it', () => {
    expect(drawn([branch('old', user(1, 0, null))])).toEqual([[null, ['old']]])
  })

  it('are at their end when the line contains all of them', () => {
    expect(drawn([branch('short', null, 2), branch('empty', null, 0)])).toEqual([
      [null, ['empty']],
      [1, ['short']],
    ])
  })

  it('are under the turn of the previous message, if it is loaded', () => {
    const parent = aMessage('assistant', { id: 30, turn: 1, text: 'the last that both have' })
    const note = aMessage('system', { id: 31, turn: 2, parent: 30, level: 'info', text: 'added later' })
    expect(drawn([branch('noted', note)], [parent])).toEqual([[1, ['noted']]])
    expect(drawn([branch('noted', note)])).toEqual([[2, ['noted']]])
  })
})
