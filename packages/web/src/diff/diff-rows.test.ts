import { describe, expect, it } from 'vitest'
import { besideRows, diffRows } from './diff-rows.ts'

/** The rows with changed words in brackets. */
const marked = (diff: string) =>
  diffRows(diff).map(({ mark, text, changed }) =>
    changed === null
      ? `${mark}${text}`
      : `${mark}${text.slice(0, changed.from)}[${text.slice(changed.from, changed.to)}]${text.slice(changed.to)}`,
  )

describe('the rows of a diff', () => {
  it('mark the words that changed within a line', () => {
    const diff = '@@ -1,2 +1,2 @@\n const speed = slow\n-  let rate = lamp.slow()\n+  let rate = lamp.fast()'
    expect(marked(diff)).toEqual([
      '@@ -1,2 +1,2 @@',
      ' const speed = slow',
      '-  let rate = lamp.[slow]()',
      '+  let rate = lamp.[fast]()',
    ])
  })

  it('mark an inserted word only where it is new', () => {
    expect(marked('@@ -1 +1 @@\n-one two\n+one and two')).toEqual(['@@ -1 +1 @@', '-one []two', '+one [and ]two'])
  })

  it('pair the lines of a replaced block in order, and none if their numbers differ', () => {
    expect(marked('@@ -1,2 +1,2 @@\n-keep a\n-keep b\n+keep c\n+keep d').slice(1)).toEqual([
      '-keep [a]',
      '-keep [b]',
      '+keep [c]',
      '+keep [d]',
    ])
    expect(marked('@@ -1,2 +1 @@\n-keep a\n-keep b\n+keep c').slice(1)).toEqual(['-keep a', '-keep b', '+keep c'])
  })

  it('mark nothing in lines with little in common, or in very long ones', () => {
    expect(marked('@@ -1 +1 @@\n-import fs\n+// all new').slice(1)).toEqual(['-import fs', '+// all new'])
    const long = 'x '.repeat(600)
    expect(diffRows(`@@ -1 +1 @@\n-${long}a\n+${long}b`).every(({ changed }) => changed === null)).toBe(true)
  })

  it('escape hidden characters', () => {
    expect(marked('@@ -1 +1 @@\n-safe\n+\u202eevil').slice(1)).toEqual(['-safe', '+\\u{202e}evil'])
  })
})

describe('lines side by side', () => {
  it('puts removed lines beside the added ones that follow them', () => {
    const rows = diffRows('@@ -1,4 +1,5 @@\n a\n-b\n-c\n+d\n e\n+f\n')
    expect(besideRows(rows).map(({ row, line }) => [row.text, line])).toEqual([
      ['@@ -1,4 +1,5 @@', 1],
      ['a', 2],
      ['b', 3],
      ['c', 4],
      ['d', 3],
      ['e', 5],
      ['f', 6],
    ])
  })
})
