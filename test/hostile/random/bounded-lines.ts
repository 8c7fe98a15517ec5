import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LineRange } from '@holdfast/protocol'
import { findBoundary } from '../../../packages/holdfast/src/tools/edits/boundary.ts'
import { lineList } from '../../../packages/holdfast/src/tools/edits/lines.ts'
import { boundedText } from './rough-workdir.ts'

export const boundedPath = 'bounded.txt'
export const boundedRange: LineRange = { start: 1, end: 2 }

/** What is at the path of the boundary: a text with one character for each byte, nothing, or something else. */
export type BoundedState =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'absent' }
  | { readonly type: 'other' }

export async function readBounded(workdir: string): Promise<BoundedState> {
  const path = join(workdir, boundedPath)
  const found = await lstat(path).catch(() => null)
  if (found === null) return { type: 'absent' }
  return found.isFile() ? { type: 'text', text: await readFile(path, 'latin1') } : { type: 'other' }
}

/** Returns what happened outside the boundary, in words; null if nothing did. */
export function findOutsideLines(before: BoundedState, after: BoundedState): string | null {
  if (before.type === 'other') return null // the file was replaced before
  if (before.type === 'absent') return after.type === 'absent' ? null : `made ${boundedPath}, which has a boundary`
  if (after.type !== 'text') return `removed ${boundedPath}, which has a boundary`
  if (after.text === before.text) return null
  const now = findBoundary(boundedPath, boundedRange, boundedText, before.text)
  if (!now.ok) return `changed ${boundedPath}, though nobody knows where its boundary is`
  const lines = lineList(before.text)
  const [above, below] = [lines.slice(0, now.value.start).join(''), lines.slice(now.value.end + 1).join('')]
  const isKept = after.text.length >= above.length + below.length
  if (isKept && after.text.startsWith(above) && after.text.endsWith(below)) return null
  return `changed lines outside the boundary: ${JSON.stringify(before.text)} is ${JSON.stringify(after.text)}`
}
