import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { memoryLine, minuteOf } from './memory-line.ts'

describe('a line of memory', () => {
  it('begins with the minute it was written, in UTC', () => {
    expect(memoryLine('use tabs', minuteOf(Date.parse('2026-03-04T12:05:59Z')))).toBe(
      '- [2026-03-04 12:05 UTC] use tabs\n',
    )
  })

  it.each([
    ['folds lines into one', ' one\r\n\n  two\u2028three\t4 ', 'one two three 4'],
    ['forges no heading', 'a\n# Memory of the user\n- [now] b', 'a # Memory of the user - [now] b'],
    ['spells out what an eye would miss', 'a\u001b[2J\u202eb\u{e0041}', 'a\\u{1b}[2J\\u{202e}b\\u{e0041}'],
    ['leaves what joins letters and emoji', 'می\u200cخواهم 👩\u200d🚀', 'می\u200cخواهم 👩\u200d🚀'],
  ])('%s', (_, text, folded) => {
    expect(memoryLine(text, 'now')).toBe(`- [now] ${folded}\n`)
  })

  it('is one line, whatever it is made of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(memoryLine(text, 'now')).toMatch(/^- \[now\] [^\p{Cc}\u2028\u2029]*\n$/u)
      }),
    )
  })
})
