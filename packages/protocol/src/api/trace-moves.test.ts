import { expect, it, vi } from 'vitest'
import { linkMoves, type MoveStep, traceMoves } from './trace-moves.ts'

const [there, absent] = [{ type: 'file' }, { type: 'absent' }]
const step = (seq: number, path: string, before: MoveStep['before'], after: MoveStep['after']): MoveStep => ({
  seq,
  call: seq,
  path,
  before,
  after,
})
const move = (seq: number, from: string, to: string, call: number | null = seq): readonly MoveStep[] => [
  { ...step(seq, from, there, absent), call },
  { ...step(seq, to, absent, there), movedFrom: from, call },
]
const traced = (...steps: readonly (readonly MoveStep[])[]) => Object.fromEntries(traceMoves(steps.flat()))

it('follows a file through its moves, and forgets it when it is back, deleted or not from before', () => {
  expect(traced(move(1, 'a', 'b'), move(2, 'b', 'c'))).toEqual({ c: 'a' })
  expect(traced(move(1, 'a', 'b'), move(2, 'b', 'a'))).toEqual({})
  expect(traced(move(1, 'a', 'b'), [step(2, 'b', there, absent)])).toEqual({})
  expect(traced([step(1, 'a', absent, there)], move(2, 'a', 'b'))).toEqual({})
})

it('tells a swap by way of a third path', () => {
  expect(traced(move(1, 'a', 't'), move(2, 'b', 'a'), move(3, 't', 'b'))).toEqual({ a: 'b', b: 'a' })
})

it('takes the moves of one record as done at once', () => {
  expect(traced([...move(1, 'b', 'c'), ...move(1, 'a', 'b')])).toEqual({ c: 'b', b: 'a' })
})

it('knows a restored file again: after its deletion, and after a new file took its path', () => {
  const restored = (seq: number, path: string): MoveStep => ({ ...step(seq, path, absent, there), call: null })
  expect(traced(move(1, 'a', 'b'), [step(2, 'b', there, absent)], [restored(3, 'b')])).toEqual({ b: 'a' })
  expect(traced([step(1, 'a', there, absent)], [restored(2, 'a')], move(3, 'a', 'b'))).toEqual({ b: 'a' })
  expect(traced(move(1, 'a', 'b'), move(2, 'b', 'a', null))).toEqual({})
})

it('links all paths of a chain of moves, and no others', () => {
  const steps = [...move(1, 'a', 'b'), ...move(2, 'x', 'y'), ...move(3, 'b', 'c'), step(4, 'n', absent, there)]
  expect(linkMoves(steps)).toEqual([
    ['a', 'b', 'c'],
    ['x', 'y'],
  ])
})

it.each([
  ['forward', (index: number) => ({ path: `${index + 1}`, movedFrom: `${index}` })],
  ['newest first', (index: number) => ({ path: `${-index}`, movedFrom: `${-index - 1}` })],
])('touches each path of a chain of moves once: %s', (_, stepOf) => {
  const workAt = (count: number) => {
    const steps = Array.from({ length: count }, (_, index) => stepOf(index))
    const spies = [vi.spyOn(Map.prototype, 'set'), vi.spyOn(Map.prototype, 'get')]
    const linked = linkMoves(steps)
    const work = spies.reduce((sum, { mock }) => sum + mock.calls.length, 0)
    for (const spy of spies) spy.mockRestore()
    expect(linked.map(({ length }) => length)).toEqual([count + 1])
    return work
  }
  expect(workAt(2000) / workAt(1000)).toBeLessThan(2.2)
})
