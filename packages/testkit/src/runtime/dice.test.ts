import { expect, it } from 'vitest'
import { createDice } from './dice.ts'

const rolls = (seed: number) => {
  const dice = createDice(seed)
  return Array.from({ length: 50 }, () => dice.below(6))
}

it('repeats the numbers of a seed, and differs for another', () => {
  expect(rolls(27)).toEqual(rolls(27))
  expect(rolls(27)).not.toEqual(rolls(28))
})

it('stays below the limit and reaches every number', () => {
  expect(new Set(rolls(1))).toEqual(new Set([0, 1, 2, 3, 4, 5]))
})

it('picks undefined from an empty list', () => {
  expect(createDice(1).pick([])).toBeUndefined()
  expect(createDice(1).pick(['only'])).toBe('only')
})
