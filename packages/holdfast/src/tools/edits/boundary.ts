import {
  fault,
  findOutside,
  growRange,
  type LineChange,
  type LineRange,
  linesText,
  moveRange,
  ok,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { diffArrays } from 'diff'
import { lineList } from './lines.ts'
import { countLines, spliceBetween } from './splice.ts'

/** With more lines to compare, or more changed lines, texts are not compared line by line. */
const comparedLinesMax = 5000
const changedLinesMax = 400

/** Returns which lines differ between two texts, counted in the first one. Null if they are too many to be compared. */
export function differingLines(before: string, after: string): readonly LineChange[] | null {
  const [between] = spliceBetween(before, after)
  if (between === undefined) return []
  const { line: first, removed, added } = between
  if (removed.length === 0 || added.length === 0) return [{ line: first, removed: removed.length, added: added.length }]
  if (Math.max(removed.length, added.length) > comparedLinesMax) return null
  const parts = diffArrays([...lineList(removed.text)], [...lineList(added.text)], { maxEditLength: changedLinesMax })
  if (parts === undefined) return null
  const changes: { line: number; removed: number; added: number }[] = []
  let line = first
  let open: (typeof changes)[number] | null = null
  for (const part of parts) {
    if (!part.added && !part.removed) {
      line += part.count
      open = null
      continue
    }
    if (open === null) {
      open = { line, removed: 0, added: 0 }
      changes.push(open)
    }
    if (part.removed) {
      open.removed += part.count
      line += part.count
    } else open.added += part.count
  }
  return changes
}

/**
 * Returns where the lines of a boundary are in the current text. `counted` is the text that they were counted in. Refused if
 * that is not certain.
 */
export function findBoundary(path: string, range: LineRange, counted: string, current: string): Result<LineRange> {
  const changes = differingLines(counted, current)
  const moved = changes && moveRange(range, changes)
  if (moved) return ok(moved)
  const message = `${path} has an edit boundary, and someone changed the file at its edge. Nothing may be changed until a person sets the boundary again.`
  return refuse(fault('outside_boundary', message, { path, allowed: range }))
}

/** Checks each change against the range, which grows with it. Returns the range after all of them. */
export function checkChanges(path: string, allowed: LineRange, changes: readonly LineChange[]): Result<LineRange> {
  let range = allowed
  for (const change of changes) {
    if (findOutside(range, [change])) return refuse(outside(path, change, range))
    range = growRange(range, [change])
  }
  return ok(range)
}

/** The same for two texts: only the lines that differ count. */
export function checkTexts(path: string, allowed: LineRange, before: string, after: string): Result<LineRange> {
  const changes = differingLines(before, after)
  if (changes === null) return checkChanges(path, allowed, countLines(spliceBetween(before, after)))
  const change = findOutside(allowed, changes)
  return change ? refuse(outside(path, change, allowed)) : ok(growRange(allowed, changes))
}

function outside(path: string, { line, removed }: LineChange, range: LineRange) {
  const touched =
    removed === 0 ? `the place before line ${line + 1}` : linesText({ start: line, end: line + removed - 1 })
  const message = `edit outside boundary: it touches ${touched} of ${path}, allowed are ${linesText(range)}`
  return fault('outside_boundary', message, { path, line, removed, allowed: range })
}
