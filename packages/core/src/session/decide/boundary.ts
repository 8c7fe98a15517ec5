import { type FileChange, fault, limits, linesText, ok, refuse } from '@holdfast/protocol'
import type { CommandOf, Decided, Events, Facts } from '../input.ts'
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
  const { path, content, lines = end + 1 } = file
  if (end >= Math.max(1, lines)) {
    const message = `${asked} has ${lines === 1 ? '1 line' : `${lines} lines`}: ${linesText({ start, end })} go past its end. ${countedFrom}`
    return refuse(fault('bad_boundary', message, { path: asked, start, end, lines }))
  }
  const known = boundaries.find((one) => one.path === path)
  if (known === undefined && boundaries.length >= limits.boundariesMax) {
    const message = `A session has at most ${limits.boundariesMax} edit boundaries. Clear one first.`
    return refuse(fault('bad_boundary', message, { limit: 'boundariesMax' }))
  }
  return ok([{ type: 'boundary.set', path, start, end, content }])
}

const countedFrom = 'Lines are counted from 1 here.'

/** Removes the boundary of a file, or all of them. */
export function clearBoundary({ boundaries }: SessionState, path: string | null): Events {
  const isKnown = path === null ? boundaries.length > 0 : boundaries.some((one) => one.path === path)
  return isKnown ? [{ type: 'boundary.cleared', path }] : []
}

/** Records where the boundaries of changed files are now. One that was cleared meanwhile stays cleared. */
export const moveBoundaries = ({ boundaries }: SessionState, files: readonly FileChange[]): Events =>
  files.flatMap(({ path, boundary }) => {
    const isKnown = boundaries.some((one) => one.path === path)
    return boundary && isKnown ? [{ type: 'boundary.set', path, ...boundary, moved: true } as const] : []
  })
