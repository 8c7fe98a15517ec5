import { applyPatch } from 'diff'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { unifiedDiff } from './unified-diff.ts'

const text = fc
  .array(fc.constantFrom('a', 'b', 'c', 'd', 'e', ''), { maxLength: 30 })
  .chain((lines) => fc.constantFrom(lines.join('\n'), `${lines.join('\n')}\n`))

describe('a unified diff', () => {
  it('turns the old text into the new one', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyPatch(before, unifiedDiff({ path: 'f', before, after }))).toBe(after)
      }),
      { numRuns: 500 },
    )
  })

  it('of many changed lines shows only these, with the lines around them', () => {
    const lines = (word: string, count: number) =>
      Array.from({ length: count }, (_, line) => `${word}${line}\n`).join('')
    const [head, tail] = [lines('head', 2000), lines('tail', 2000)]
    const before = `${head}${lines('old', 6000)}${tail}`
    const after = `${head}${lines('new', 600)}${tail}`
    const diff = unifiedDiff({ path: 'f', before, after })
    expect(diff.split('\n')).toHaveLength(3 + 3 + 6000 + 600 + 3 + 1)
    expect(diff).toContain('@@ -1998,6006 +1998,606 @@\n head1997\n head1998\n head1999\n-old0\n')
    expect(applyPatch(before, diff)).toBe(after)
  })

  it('of equal texts has no hunk', () => {
    expect(unifiedDiff({ path: 'f', before: 'a\n', after: 'a\n' })).toBe('--- a/f\n+++ b/f\n')
  })
})
