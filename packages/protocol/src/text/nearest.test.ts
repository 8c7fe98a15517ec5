import { expect, it } from 'vitest'
import { didYouMean, nearest } from './nearest.ts'

const commands = ['run', 'ls', 'show', 'export', 'tell', 'serve']

it.each([
  ['lss', 'ls'],
  ['shwo', 'show'],
  ['exprot', 'export'],
  ['serv', 'serve'],
  ['exp', 'export'],
])('suggests the right name for %s: %s', (wanted, meant) => {
  expect(nearest(wanted, commands)).toBe(meant)
})

it('prefers a name with a letter more over one with another letter', () => {
  expect(nearest('modl', ['mode', 'model'])).toBe('model')
  expect(nearest('opne', ['opened', 'open'])).toBe('open')
})

it.each(['wombat', 'x', '', 'completely-different'])('suggests nothing for %j', (wanted) => {
  expect(nearest(wanted, commands)).toBeNull()
  expect(didYouMean(wanted, commands)).toBe('')
})

it('rejects a very long name quickly', () => {
  expect(nearest('x'.repeat(1_000_000), commands)).toBeNull()
})
