import { clip, type LineChange } from '@holdfast/protocol'
import { bodyOf, splitFirstLines } from './lines.ts'

const around = 3
const linesMax = 60
const charsMax = 300
const changesMax = 200

/** Counts the lines that a change adds and removes. */
export function countChange(changes: readonly LineChange[]): string {
  const [added, removed] = changes.reduce(
    ([more, less], change) => [more + change.added, less + change.removed],
    [0, 0],
  )
  return `+${added} −${removed}`
}

/**
 * Returns the changed lines of the new text with their numbers and three lines around them. The text may be a part of a file:
 * `firstLine` lines are before it.
 */
export function showChange(after: string, changes: readonly LineChange[], firstLine = 0): string {
  const here = changes.slice(0, changesMax).map((change) => ({ ...change, line: change.line - firstLine }))
  const ranges = changedRanges(here)
  const lines = splitFirstLines(after, (ranges.at(-1)?.[1] ?? 0) + around)
  const shown: string[] = []
  let next = 0
  for (const [from, to] of ranges) {
    const [start, end] = [Math.max(next, from - around), Math.min(lines.count, to + around)]
    if (end <= start) continue
    if (start > next && shown.length > 0) shown.push('…')
    for (let line = start; line < end && shown.length < linesMax; line++)
      shown.push(`${firstLine + line + 1}\t${clip(bodyOf(lines, line), charsMax)}`)
    next = end
    if (shown.length >= linesMax) break
  }
  const isCut = shown.length >= linesMax || changes.length > changesMax
  return [...shown, ...(isCut ? ['[more lines changed than are shown]'] : [])].join('\n')
}

/** Returns where the added lines are in the new text, in order. */
function changedRanges(changes: readonly LineChange[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = []
  for (const { line, removed, added } of changes) {
    const shift = added - removed
    for (const range of ranges) {
      if (range[0] < line + removed) continue
      range[0] += shift
      range[1] += shift
    }
    ranges.push([line, line + added])
  }
  return ranges.sort(([one], [other]) => one - other)
}
