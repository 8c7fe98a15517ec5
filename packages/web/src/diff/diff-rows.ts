import { type DiffLine, diffLines, escapeHidden } from '@holdfast/protocol'

/** A part of a text: from this character, up to but not including that one. */
type Span = { readonly from: number; readonly to: number }

/** A line of a diff, ready to be drawn: hidden characters are escaped. */
export type DiffRow = Omit<DiffLine, 'text'> & {
  /** `+`, `-` or a blank; empty for lines that are not of the file. */
  readonly mark: string
  readonly text: string
  /** The part that differs from the line it replaces or is replaced by; null if the whole line does. */
  readonly changed: Span | null
}

const content: ReadonlySet<DiffLine['kind']> = new Set(['added', 'removed', 'same'])

/** Splits a diff into rows, and marks the words that changed within a line. */
export function diffRows(diff: string): readonly DiffRow[] {
  const rows = diffLines(diff).map(({ text, ...line }): DiffRow => {
    const isContent = content.has(line.kind)
    const mark = isContent ? text.slice(0, 1) || ' ' : ''
    return { ...line, mark, text: escapeHidden(isContent ? text.slice(1) : text), changed: null }
  })
  return withWordMarks(rows)
}

/** A row, and the line on which it stands when old and new are side by side. */
export type BesideRow = { readonly row: DiffRow; readonly line: number }

/** Puts removed lines beside the added ones that follow them. */
export function besideRows(rows: readonly DiffRow[]): readonly BesideRow[] {
  const placed: BesideRow[] = []
  let line = 1
  for (let start = 0; start < rows.length; ) {
    const added = endOf(rows, start, 'removed')
    const end = endOf(rows, added, 'added')
    for (let index = start; index < added; index++) place(index, line + index - start)
    for (let index = added; index < end; index++) place(index, line + index - added)
    if (end === start) place(start, line)
    line += Math.max(1, added - start, end - added)
    start = Math.max(end, start + 1)
  }
  return placed

  function place(index: number, line: number): void {
    const row = rows[index]
    if (row) placed.push({ row, line })
  }
}

/** Pairs the lines of a block that is replaced: the first removed with the first added, and so on. */
function withWordMarks(rows: readonly DiffRow[]): readonly DiffRow[] {
  const marked = [...rows]
  for (let start = 0; start < rows.length; ) {
    const added = endOf(rows, start, 'removed')
    const end = endOf(rows, added, 'added')
    const pairs = added - start === end - added ? added - start : 0 // else nothing says which line became which
    for (let pair = 0; pair < pairs; pair++) {
      const [old, fresh] = [rows[start + pair], rows[added + pair]]
      const spans = old && fresh ? changedWords(old.text, fresh.text) : null
      if (!old || !fresh || !spans) continue
      marked[start + pair] = { ...old, changed: spans[0] }
      marked[added + pair] = { ...fresh, changed: spans[1] }
    }
    start = Math.max(end, start + 1)
  }
  return marked
}

function endOf(rows: readonly DiffRow[], from: number, kind: DiffLine['kind']): number {
  let end = from
  while (rows[end]?.kind === kind) end++
  return end
}

const comparedCharsMax = 1000
/** Two lines with less in common are two lines, not one that changed. */
const commonPartMin = 0.3

/** Returns the words between the common start and the common end of two lines; null if they have little in common. */
function changedWords(before: string, after: string): readonly [Span, Span] | null {
  if (Math.max(before.length, after.length) > comparedCharsMax) return null
  const [old, fresh] = [wordsOf(before), wordsOf(after)]
  const length = Math.min(old.length, fresh.length)
  let start = 0
  while (start < length && old[start] === fresh[start]) start++
  let end = 0
  while (end < length - start && old.at(-1 - end) === fresh.at(-1 - end)) end++
  const charsOf = (words: readonly string[]) => words.join('').length
  const from = charsOf(old.slice(0, start))
  const tail = charsOf(old.slice(old.length - end))
  const common = before.trim().length === 0 ? 0 : (from + tail) / Math.max(before.length, after.length)
  if (common < commonPartMin) return null
  return [
    { from, to: before.length - tail },
    { from, to: after.length - tail },
  ]
}

const wordsOf = (text: string): readonly string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []
