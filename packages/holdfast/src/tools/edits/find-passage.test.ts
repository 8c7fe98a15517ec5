import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Characters, findDisjoint, findPassages } from './find-passage.ts'

it('finds what a naive search finds', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 16 })
  fc.assert(
    fc.property(
      word,
      word.filter((passage) => passage !== ''),
      (text, passage) => {
        const starts = [...text].flatMap((_, at) => (text.startsWith(passage, at) ? [at] : []))
        expect(findPassages(text, passage, 3)).toEqual({ count: starts.length, starts: starts.slice(0, 3) })
      },
    ),
  )
})

/** A text that counts how often it is read. */
function counting(text: string) {
  const counted = { reads: 0 }
  const characters: Characters = {
    length: text.length,
    charCodeAt(at) {
      counted.reads++
      return text.charCodeAt(at)
    },
  }
  return { characters, counted }
}

it.each([
  ['overlaps at every position', 'a', (length: number) => 'a'.repeat(length)],
  ['differs at its first character', 'a', (length: number) => `b${'a'.repeat(length - 1)}`],
  ['differs at its last character', 'a', (length: number) => `${'a'.repeat(length - 1)}b`],
  ['has many borders', 'ab', (length: number) => `${'ab'.repeat(length / 2)}b`],
])('reads twice as much in a text twice as long when the passage %s', (_, unit, passageOf) => {
  const readsAt = (length: number) => {
    const text = counting(unit.repeat(length))
    const passage = counting(passageOf(length / 2))
    findPassages(text.characters, passage.characters, 10)
    return text.counted.reads + passage.counted.reads
  }
  const [small, large] = [readsAt(2000), readsAt(4000)]
  expect(large / small).toBeLessThan(2.2)
  expect(small).toBeLessThan(8 * 3000)
})

it('lists places without overlaps, and none if they are too many', () => {
  expect(findDisjoint('aaaaa', 'aa', 2)).toEqual(Int32Array.of(0, 2))
  expect(findDisjoint('aaaaa', 'aa', 1)).toBe(null)
  expect(findDisjoint('aaaaa', 'b', 1)).toEqual(new Int32Array())
})
