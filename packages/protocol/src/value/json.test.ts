import { expect, it } from 'vitest'
import { findJsonExcess } from './json.ts'
import { limits } from './limits.ts'

const nested = (levels: number): unknown =>
  Array.from({ length: levels }).reduce<unknown>((inner) => ({ inner }), 'end')

it('finds nothing in an ordinary value', () => {
  expect(findJsonExcess({ a: [1, 'two', null], bytes: new Uint8Array(100_000) })).toBeNull()
  expect(findJsonExcess(nested(limits.jsonDepthMax))).toBeNull()
})

it('finds a value that is nested too deep, also one that contains itself', () => {
  const circle: { self?: object } = {}
  circle.self = circle
  for (const value of [nested(limits.jsonDepthMax + 1), nested(100_000), circle])
    expect(findJsonExcess(value)).toBe('it is nested deeper than 100 levels')
})

it('stops at a value with too many parts, however they are shared', () => {
  const shared = Array.from({ length: 60 }).reduce<unknown>((half) => [half, half], 'end')
  expect(findJsonExcess(shared)).toBe('it has more than 50000 values')
})
