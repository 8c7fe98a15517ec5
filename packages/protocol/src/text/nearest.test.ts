import { expect, it } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

const commands = ['run', 'ls', 'show', 'export', 'tell', 'serve']

it.each([
  ['lss', 'ls'],
  ['shwo', 'show'],
  ['exprot', 'export'],
  ['serv', 'serve'],
  ['exp', 'export'],
])('takes %s for %s', (wanted, meant) => {
  expect(nearest(wanted, commands)).toBe(meant)
})

it.each(['wombat', 'x', '', 'completely-different'])('makes no wild guess for %j', (wanted) => {
  expect(nearest(wanted, commands)).toBeNull()
  expect(didYouMean(wanted, commands)).toBe('')
})

it('is quick with a name of absurd length', () => {
  expect(nearest('x'.repeat(1_000_000), commands)).toBeNull()
})
