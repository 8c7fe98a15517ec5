import type { LineChange } from '@holdfast/protocol'
import { type Lines, lineOf, splitLines, startOf } from './lines.ts'

/**
 * One change of a text: at a line (counted from 0), some lines are removed and others added. Lines carry their ends. A
 * change is a list of splices in the order in which they apply: the line of each counts in the text that those before it
 * have left.
 */
export type Splice = {
  readonly line: number
  readonly removed: WholeLines
  readonly added: WholeLines
}

/** Whole lines as one text, because they may be millions, and how many they are. */
export type WholeLines = { readonly text: string; readonly length: number }

export const wholeLines = (text: string): WholeLines => ({ text, length: splitLines(text).count })

/** Returns how many lines each splice removes and adds. The texts of many splices may be large together. */
export const countLines = (splices: readonly Splice[]): readonly LineChange[] =>
  splices.map(({ line, removed, added }) => ({ line, removed: removed.length, added: added.length }))

/** A text after a change, and the change. */
export type SplicedText = { readonly text: string; readonly splices: readonly Splice[] }

/** Applies splices to a text. Throws if a line to remove is another one: the splices belong to another text. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  return splices.reduce((current, { line, removed, added }) => {
    const lines = splitLines(current)
    const [start, end] = [startOf(lines, line), startOf(lines, line + removed.length)]
    if (current.slice(start, end) !== removed.text || line + removed.length > lines.count)
      throw new Error(`The splice at line ${line} does not fit the text.`)
    return current.slice(0, start) + added.text + current.slice(end)
  }, text)
}

/** Replaces lines of a text. `line` counts in the text as it is, for every part; parts are in order and do not overlap. */
export function spliceAll(lines: Lines, parts: readonly Splice[]): SplicedText {
  const pieces: string[] = []
  const splices: Splice[] = []
  let from = 0
  let shift = 0
  for (const part of parts) {
    const { line, removed, added } = trimmed(part)
    if (removed.length === 0 && added.length === 0) continue
    pieces.push(lines.text.slice(from, startOf(lines, line)), added.text)
    from = startOf(lines, line + removed.length)
    splices.push({ line: line + shift, removed, added })
    shift += added.length - removed.length
  }
  pieces.push(lines.text.slice(from))
  return { text: pieces.join(''), splices }
}

/** Leaves out the lines that a splice removes and adds again at its start and end. */
function trimmed({ line, removed, added }: Splice): Splice {
  const [between] = spliceBetween(removed.text, added.text)
  return between ? { ...between, line: line + between.line } : { line, removed: noLines, added: noLines }
}

const noLines: WholeLines = { text: '', length: 0 }

/** Returns the splice that turns one text into another: the lines between the first and the last difference. */
export function spliceBetween(before: string, after: string): readonly Splice[] {
  if (before === after) return []
  const [one, other] = [splitLines(before), splitLines(after)]
  const length = Math.min(one.count, other.count)
  let head = 0
  while (head < length && lineOf(one, head) === lineOf(other, head)) head++
  let tail = 0
  while (tail < length - head && lineOf(one, one.count - 1 - tail) === lineOf(other, other.count - 1 - tail)) tail++
  const middle = (lines: Lines): WholeLines => ({
    text: lines.text.slice(startOf(lines, head), startOf(lines, lines.count - tail)),
    length: lines.count - tail - head,
  })
  return [{ line: head, removed: middle(one), added: middle(other) }]
}
