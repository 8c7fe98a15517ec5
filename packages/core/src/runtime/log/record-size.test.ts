import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { estimateChars, isShorterThan, jsonBytesAtMost } from './record-size.ts'

/** Creates `count` values that count how often one of them is visited. */
function countedValues(count: number) {
  const seen = { count: 0 }
  const one = {
    get value() {
      seen.count++
      return 0
    },
  }
  return { seen, values: Array.from({ length: count }, () => one) }
}

describe('the size of a record', () => {
  it('is at least the length of its JSON when multiplied, and at most what its text and values cost', () => {
    const event = { type: 'text.said', text: 'x'.repeat(1000), meta: { a: [1, null, true] } }
    expect(estimateChars(event)).toBeGreaterThan(1000)
    expect(estimateChars(event)).toBeLessThan(JSON.stringify(event).length + 100)
  })

  it('is counted only up to the limit, however many values there are', () => {
    const visits = [10_000, 20_000, 40_000].map((count) => {
      const { seen, values } = countedValues(count)
      expect(isShorterThan([{ args: values }, { args: values }], 6000)).toBe(false)
      return seen.count
    })
    expect(new Set(visits).size).toBe(1)
    expect(visits[0]).toBeLessThan(200)
  })

  it('proves a page short only if every character could be escaped', () => {
    expect(isShorterThan([{ text: '\u0001'.repeat(1000) }], 6000)).toBe(false)
    expect(isShorterThan([{ text: '\u0001'.repeat(1000) }], 6200)).toBe(true)
    expect(isShorterThan([], 1)).toBe(true)
  })

  it('never exceeds the bound on its bytes', () => {
    const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) })
    const anyValue = fc.letrec((tie) => ({
      value: fc.oneof(anyText, fc.double(), fc.boolean(), fc.constant(null), tie('list'), tie('object')),
      list: fc.array(tie('value')),
      object: fc.dictionary(anyText, tie('value')),
    })).value
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(Buffer.byteLength(JSON.stringify(value))).toBeLessThanOrEqual(jsonBytesAtMost(value))
      }),
    )
  })

  it('is bounded closely for ordinary text', () => {
    const text = 'A line with "quotes", é, 日本 and 😀.\n'.repeat(100)
    expect(jsonBytesAtMost(text)).toBeLessThanOrEqual(2 * Buffer.byteLength(JSON.stringify(text)))
  })
})
