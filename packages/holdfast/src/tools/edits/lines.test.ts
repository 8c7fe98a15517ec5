import fc from 'fast-check'
import { expect, it } from 'vitest'
import { endOf, lineList, lineOf, splitFirstLines, splitLines, splitLinesInSlices, splitThrough } from './lines.ts'

const texts = fc.array(fc.constantFrom('\n', '\r\n', 'a', 'line of a text', ''), { maxLength: 400 })

it('splits any text into lines that carry their ends', () => {
  fc.assert(
    fc.property(texts, (parts) => {
      const text = parts.join('')
      const lines = splitLines(text)
      const expected = text.match(/[^\n]*\n|[^\n]+$/g) ?? []
      expect([lineList(text), lines.count, lines.starts.length]).toEqual([
        expected,
        expected.length,
        expected.length + 1,
      ])
      if (lines.count > 0) expect(lineOf(lines, lines.count - 1).endsWith(endOf(lines, lines.count - 1))).toBe(true)
    }),
  )
})

it('splits a text of empty lines, which has far more than usual', () => {
  expect(splitLines('\n'.repeat(10_000)).count).toBe(10_000)
})

it('splits a text in slices of at most 200,000 lines', async () => {
  const text = `${'\n'.repeat(1_000_000)}end`
  let pauses = 0
  const lines = await splitLinesInSlices(text, async () => pauses++)
  expect(lines).toEqual(splitLines(text))
  expect(pauses).toBe(4)
})

it('splits the first lines of a text; the rest is one line more', () => {
  fc.assert(
    fc.property(texts, fc.nat(20), (parts, max) => {
      const text = parts.join('')
      const [first, all] = [splitFirstLines(text, max), lineList(text)]
      const rest = all.slice(max).join('')
      const expected = [...all.slice(0, max), ...(rest === '' ? [] : [rest])]
      expect(Array.from({ length: first.count }, (_, line) => lineOf(first, line))).toEqual(expected)
    }),
  )
})

it('splits the lines up to an offset, and some more', () => {
  fc.assert(
    fc.property(texts, fc.nat(20), fc.nat(3), (parts, offset, more) => {
      const text = parts.join('')
      const [through, all] = [splitThrough(text, offset, more), lineList(text)]
      const count = text.slice(0, offset).split('\n').length - 1 + more
      const rest = all.slice(count).join('')
      const expected = [...all.slice(0, count), ...(rest === '' ? [] : [rest])]
      expect(Array.from({ length: through.count }, (_, line) => lineOf(through, line))).toEqual(expected)
    }),
  )
})
