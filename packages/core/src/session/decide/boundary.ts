import { type FileChange, fault, limits, linesText, ok, refuse } from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { CommandOf, Decided, Events } from '../input.ts'
import type { SessionState } from '../state.ts'

/** Sets the lines of a file that tools may change. */
export function setBoundary(
  { boundaries }: SessionState,
  { path: asked, start, end }: CommandOf<'setBoundary'>,
  { file }: Facts,
): Decided {
  if (start < 0 || end < start) {
    const message = `No edit boundary can be lines ${start + 1} to ${end + 1}: the first must be at least 1 and at most the last. ${countedFrom}`
    return refuse(fault('bad_boundary', message, { path: asked, start, end }))
  }
  if (file?.content === undefined) return refuse(fault('bad_boundary', `${asked} is not a file.`, { path: asked }))
  const { path, content, lines = end + 1, linked = [] } = file
  if (end >= Math.max(1, lines)) {
    const message = `${asked} has ${lines === 1 ? '1 line' : `${lines} lines`}: ${linesText({ start, end })} ${start === end ? 'is' : 'are'} past its end. ${countedFrom}`
    return refuse(fault('bad_boundary', message, { path: asked, start, end, lines }))
  }
  const known = boundaries.find((one) => one.path === path || linked.includes(one.path))
  if (known === undefined && boundaries.length >= limits.boundariesMax) {
    const message = `A session has at most ${limits.boundariesMax} edit boundaries. Clear one first.`
    return refuse(fault('bad_boundary', message, { limit: 'boundariesMax' }))
  }
  return ok([{ type: 'boundary.set', path, start, end, content }, ...clearLinked(boundaries, linked)])
}

const countedFrom = 'Lines are counted from 1 here, and from 0 in start and end of setBoundary.'

/** Removes the boundary of a file, also one whose path leads to it through a link now. */
export function clearBoundary({ boundaries }: SessionState, path: string, linked: readonly string[] = []): Events {
  return clearLinked(boundaries, [path, ...linked])
}

/** Removes all boundaries. */
export const clearAllBoundaries = ({ boundaries }: SessionState): Events =>
  boundaries.length > 0 ? [{ type: 'boundary.cleared', path: null }] : []

const clearLinked = (boundaries: SessionState['boundaries'], paths: readonly string[]): Events =>
  boundaries.flatMap(({ path }) => (paths.includes(path) ? [{ type: 'boundary.cleared', path } as const] : []))

/** Records where the boundaries of changed files are now. One that was cleared meanwhile stays cleared. */
export const moveBoundaries = ({ boundaries }: SessionState, files: readonly FileChange[]): Events =>
  files.flatMap(({ path, boundary }) => {
    const isKnown = boundaries.some((one) => one.path === path)
    return boundary && isKnown ? [{ type: 'boundary.set', path, ...boundary, moved: true } as const] : []
  })
