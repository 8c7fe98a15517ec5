import { describe, expect, it } from 'vitest'
import { diffCounts, diffLines } from './diff-lines.ts'

const kinds = (diff: string) => diffLines(diff).map(({ kind }) => kind)
const numbers = (diff: string) => diffLines(diff).map(({ before, after }) => [before, after])

describe('the lines of a diff', () => {
  it('distinguishes file names, hunks and changes', () => {
    const diff = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n\\ No newline at end of file\n'
    expect(kinds(diff)).toEqual(['file', 'file', 'hunk', 'same', 'removed', 'added', 'note'])
  })

  it('does not mistake a removed line that begins with -- for a file name', () => {
    expect(kinds('@@ -1,2 +1,1 @@\n--- a note\n same')).toEqual(['hunk', 'removed', 'same'])
    expect(kinds('@@ -1 +1 @@\n--- x\n+++ y')).toEqual(['hunk', 'removed', 'added'])
  })

  it('recognises the next file once a hunk is complete', () => {
    const diff = '@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -0,0 +1 @@\n+d'
    expect(kinds(diff)).toEqual(['hunk', 'removed', 'added', 'file', 'file', 'hunk', 'added'])
  })

  it('uses the first character when there are no hunks', () => {
    expect(kinds('+a\n-b\n c')).toEqual(['added', 'removed', 'same'])
  })

  it('counts added and removed lines', () => {
    expect(diffCounts(diffLines('@@ -1,1 +1,2 @@\n-a\n+b\n+c'))).toEqual({ added: 2, removed: 1 })
  })

  it('numbers the lines before and after the change, in each hunk', () => {
    expect(numbers('@@ -7,2 +7,3 @@\n same\n-old\n+new\n+more\n@@ -20 +21 @@\n-x\n+y')).toEqual([
      ...[[null, null], [7, 7], [8, null], [null, 8], [null, 9]], // biome-ignore format: one hunk
      ...[[null, null], [20, null], [null, 21]], // biome-ignore format: the other
    ])
  })

  it('does not number lines after a cut, until the next hunk', () => {
    const cut = '@@ -1,90 +1,90 @@\n one\n\\ [… 4000 bytes left out …]\n ninety\n@@ -200 +200 @@\n-x\n+y'
    expect(kinds(cut)).toEqual(['hunk', 'same', 'note', 'same', 'hunk', 'removed', 'added'])
    expect(numbers(cut).slice(3)).toEqual([[null, null], [null, null], [200, null], [null, 200]]) // biome-ignore format: pairs
  })
})
