import { z } from 'zod'
import { BlobHash } from './id.ts'
import { limits } from './limits.ts'

/** The lines of a file that tools may change, counted from 0, both included. */
export const LineRange = z.object({
  /** The first line. */
  start: z.int().min(0),
  /** The last line. One less than `start` when the lines were all deleted: then lines may only be added at `start`. */
  end: z.int().min(-1),
})
export type LineRange = z.infer<typeof LineRange>

/** Names lines for people and models, who count from 1: `lines 4–10`. */
export function linesText({ start, end }: LineRange): string {
  if (end < start) return `new lines before line ${start + 1}`
  return start === end ? `line ${start + 1}` : `lines ${start + 1}\u2013${end + 1}`
}

/** An edit boundary: tools may change only these lines of the file. */
export const Boundary = z.object({
  /** The file, as a path in the workdir. */
  path: z.string().min(1).max(limits.toolPathCharsMax),
  ...LineRange.shape,
})
export type Boundary = z.infer<typeof Boundary>

/** An edit boundary as it is now: its lines follow what others changed in the file. */
export const ListedBoundary = Boundary.extend({
  /** Why tools may change nothing at the moment, as sentences. The lines are then the last known ones. */
  suspended: z.string().optional(),
})
export type ListedBoundary = z.infer<typeof ListedBoundary>

/** A boundary with the content that its lines were counted in, so that changes by others can be compared with it. */
export const KeptBoundary = Boundary.extend({ content: BlobHash })
export type KeptBoundary = z.infer<typeof KeptBoundary>

/** A change to the lines of a file: from `line` on, `removed` lines are replaced by `added` lines. */
export const LineChange = z.object({ line: z.int().min(0), removed: z.int().min(0), added: z.int().min(0) })
export type LineChange = z.infer<typeof LineChange>

/** Adds a boundary. A file has at most one. */
export const addBoundary = <Kept extends Boundary>(known: readonly Kept[], added: Kept): Kept[] => [
  ...known.filter(({ path }) => path !== added.path),
  added,
]

/** Removes the boundary of a file, or all of them. */
export const dropBoundary = <Kept extends Boundary>(known: readonly Kept[], path: string | null): Kept[] =>
  path === null ? [] : known.filter((one) => one.path !== path)

/** Returns the first change that touches lines outside the range, or null. Lines may be added at both its ends. */
export function findOutside({ start, end }: LineRange, changes: readonly LineChange[]): LineChange | null {
  const isInside = ({ line, removed }: LineChange) => line >= start && line + removed <= end + 1
  return changes.find((change) => !isInside(change)) ?? null
}

/** Returns the range after changes inside it. */
export const growRange = ({ start, end }: LineRange, changes: readonly LineChange[]): LineRange => ({
  start,
  end: changes.reduce((last, { removed, added }) => last + added - removed, end),
})

/**
 * Returns the range after changes by others, which may be anywhere: lines above move it, lines inside stretch it. Returns
 * null if a change crosses one of its ends, because then nobody knows which lines were meant.
 */
export function moveRange(range: LineRange, changes: readonly LineChange[]): LineRange | null {
  let { start, end } = range
  for (const { line, removed, added } of changes) {
    const after = line + removed
    if (line > range.end) continue
    if (after <= range.start && !(line === range.start && removed > 0)) {
      start += added - removed
      end += added - removed
    } else if (line >= range.start && after <= range.end + 1) end += added - removed
    else return null
  }
  return { start, end }
}
