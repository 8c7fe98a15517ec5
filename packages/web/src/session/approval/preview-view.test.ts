import { describe, expect, it } from 'vitest'
import { diffCounts, parseDiff } from './preview-view.tsx'

const kinds = (diff: string) => parseDiff(diff).map(({ kind }) => kind)

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
    expect(kinds('@@ -1 +1 @@\n-a\n+b\n--- c\n+++ c\n@@ -0,0 +1 @@\n+d')).toEqual([
      'hunk',
      'removed',
      'added',
      'file',
      'file',
      'hunk',
      'added',
    ])
  })

  it('uses the first character when there are no hunks', () => {
    expect(kinds('+a\n-b\n c')).toEqual(['added', 'removed', 'same'])
  })

  it('counts added and removed lines', () => {
    expect(diffCounts(parseDiff('@@ -1,1 +1,2 @@\n-a\n+b\n+c'))).toEqual({ added: 2, removed: 1 })
  })
})
