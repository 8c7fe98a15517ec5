import { escapeLine } from './hostile-text.ts'

/** A line of a unified diff. */
export type DiffLine = {
  /** What it is: a name of a file, the head of a hunk, a changed or an equal line, or a comment. */
  readonly kind: 'file' | 'hunk' | 'added' | 'removed' | 'same' | 'note'
  /** The whole line, with its mark. */
  readonly text: string
  /** Its number before the change, counted from 1; null if it was not there or the number is not known. */
  readonly before: number | null
  /** Its number after the change. */
  readonly after: number | null
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const fileHead = /^(?:--- |\+\+\+ |diff |index |Index: |={10,}|new file |deleted file |rename |similarity )/
/** The mark between head and tail of a shortened preview. */
const leftOut = /^\\ \[… \d+ bytes left out …\]$/

/**
 * Splits a unified diff into lines with their kind and numbers. Inside a hunk the line counts decide: a removed line that
 * begins with `--` must not look like a file name to a person who approves it.
 */
export function diffLines(diff: string): readonly DiffLine[] {
  let [removedLeft, addedLeft] = [0, 0]
  let [before, after] = [0, 0]
  let isNumbered = false
  const lines = diff.endsWith('\n') ? diff.slice(0, -1).split('\n') : diff.split('\n')
  return lines.map((text): DiffLine => {
    const head = hunkHead.exec(text) // no line inside a hunk begins with @
    if (head) {
      ;[before, after] = [Number(head[1]), Number(head[3])]
      ;[removedLeft, addedLeft] = [Number(head[2] ?? 1), Number(head[4] ?? 1)]
      isNumbered = true
      return { kind: 'hunk', text, before: null, after: null }
    }
    if (leftOut.test(text)) isNumbered = false // how many lines are missing is not known
    if (removedLeft <= 0 && addedLeft <= 0)
      return { kind: fileHead.test(text) ? 'file' : kindByMark(text), text, before: null, after: null }
    const kind = kindByMark(text)
    const [isBefore, isAfter] = [kind === 'removed' || kind === 'same', kind === 'added' || kind === 'same']
    if (isBefore) removedLeft--
    if (isAfter) addedLeft--
    const number = { before: isBefore ? before++ : null, after: isAfter ? after++ : null }
    return { kind, text, ...(isNumbered ? number : { before: null, after: null }) }
  })
}

function kindByMark(text: string): DiffLine['kind'] {
  if (text.startsWith('+')) return 'added'
  if (text.startsWith('-')) return 'removed'
  if (text.startsWith('\\')) return 'note'
  return 'same'
}

/** Counts added and removed lines. */
export function diffCounts(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { added: count('added'), removed: count('removed') }
}

/** Returns the lines of a diff that say that a file was moved, as git writes them. */
export const renameHeads = (from: string, to: string): string =>
  `rename from ${escapeLine(from)}\nrename to ${escapeLine(to)}\n`
