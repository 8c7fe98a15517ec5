import { limits } from '@holdfast/protocol'
import { splitLines } from '../../edits/lines.ts'
import { countFeeds, cutWindow, type PassageWindow } from '../../edits/passage-window.ts'
import { spliceBetween } from '../../edits/splice.ts'
import { contextLines } from '../../edits/unified-diff.ts'
import { changeText } from './change-text.ts'
import type { ComputedEdit, ContentEdit } from './file-edit.ts'

/** Shorter files are decoded whole in a few milliseconds. */
const windowedBytesMin = 256 * 1024

type WindowEdit = Pick<ComputedEdit, 'before' | 'after' | 'firstLine' | 'parts' | 'countLines' | 'changes' | 'notes'>

/**
 * Replaces one passage of a long UTF-8 text by reading the lines around it only. The rest stays the bytes that it is. Null if
 * the whole text has to be read, also to say why the edit is refused.
 */
export function editWindow(edit: ContentEdit, shown: string, bytes: Buffer): WindowEdit | null {
  if (edit.type !== 'replace' || bytes.length < windowedBytesMin) return null
  const [one, ...others] = edit.edits
  const isBounded = edit.boundaries?.some(({ path }) => path === shown)
  if (!one || others.length > 0 || one.all || isBounded) return null
  const window = cutWindow(bytes, one.oldText)
  if (window === null) return null
  const { from, to, line: firstLine, text: before } = window
  const changed = changeText(edit, shown, { text: before, encoding: { name: 'utf8', bom: false } })
  if (!changed.ok) return null
  const { text: after, notes } = changed.value
  const parts = [bytes.subarray(0, from), Buffer.from(after), bytes.subarray(to)]
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  if (size > limits.editedFileBytesMax || !isInside(window, after, bytes.length)) return null
  const changes = changed.value.changes.map((change) => ({ ...change, line: change.line + firstLine }))
  // Counted only where it is needed: a pass over the whole file.
  const countAfter = () => firstLine + splitLines(after).count + linesOf(bytes.subarray(to))
  return { before, after, firstLine, parts, countLines: countAfter, changes, notes }
}

/** Whether a diff shows as many equal lines around a change of a window as around one of the whole text. */
function isInside({ from, to, text }: PassageWindow, after: string, size: number): boolean {
  const [change] = spliceBetween(text, after)
  if (change === undefined) return false
  const trailing = splitLines(text).count - change.line - change.removed.length
  return (from === 0 || change.line > contextLines) && (to === size || trailing > contextLines)
}

const linesOf = (bytes: Buffer): number => countFeeds(bytes) + (bytes.length === 0 || bytes.at(-1) === 10 ? 0 : 1)
