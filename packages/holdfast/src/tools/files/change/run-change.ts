import { type ContentPair, ownSlice } from '@holdfast/core/ports'
import { escapeLine, type Result } from '@holdfast/protocol'
import { knownKeys } from '../../../system/secrets/known-keys.ts'
import { findWritable } from '../io/workspace-file.ts'
import { createChangeThread } from './change-thread.ts'
import { diffPair } from './diff-pair.ts'
import { diffEdit, type EditedContent, type EditPreview, editedContent } from './file-change.ts'
import type { ContentEdit, FileEdit } from './file-edit.ts'
import { type BoundedPair, type BoundedVerdict, judgePair } from './judge-bounded.ts'

/** Up to this size of file and arguments together, the work takes a few milliseconds and needs no thread. */
const smallBytesMax = 64 * 1024

const thread = createChangeThread()

/** Returns what an edit would change, as a diff. Changes nothing. */
export async function previewEdit(edit: FileEdit, signal: AbortSignal): Promise<Result<EditPreview>> {
  if (await isSmall(edit)) return diffEdit(edit, ownSlice)
  return thread.run({ type: 'preview', edit, keys: knownKeys() }, signal)
}

/** Returns the new content of a file. */
export async function contentAfter(edit: ContentEdit, signal: AbortSignal): Promise<Result<EditedContent>> {
  if (await isSmall(edit)) return editedContent(edit, ownSlice)
  return thread.run({ type: 'content', edit, keys: [] }, signal)
}

/** Returns the diff of two contents, bounded and masked. A comparison that takes too long is said to. */
export async function diffContents(pair: ContentPair, signal: AbortSignal): Promise<string> {
  if (pair.before === null && pair.after === null) return ''
  const size = (pair.before?.length ?? 0) + (pair.after?.length ?? 0)
  if (size <= smallBytesMax) {
    await ownSlice()
    return diffPair(pair)
  }
  const diffed = await thread.run({ type: 'diff', edit: pair, keys: knownKeys() }, signal)
  return diffed.ok ? diffed.value.diff : `${diffed.fault.message}\n`
}

/** Judges what a command did to a file with an edit boundary. What takes too long to compare counts as outside. */
export async function judgeBounded(pair: BoundedPair, signal: AbortSignal): Promise<BoundedVerdict> {
  if (isSmallPair(pair)) {
    await ownSlice()
    return judgePair(pair)
  }
  const judged = await thread.run({ type: 'bounded', edit: pair, keys: [] }, signal)
  return judged.ok
    ? judged.value
    : { violation: `${escapeLine(pair.path)} changed and was not compared: ${judged.fault.message}` }
}

/** Whether a file with a boundary is compared on this thread. It may have been longer when its lines were counted. */
export const isSmallPair = ({ before, after, counted }: BoundedPair): boolean =>
  before.length + after.length + (counted?.length ?? 0) <= smallBytesMax

/** Whether an edit is computed on this thread. */
export async function isSmall(edit: FileEdit): Promise<boolean> {
  const found = await findWritable(edit, edit.path)
  if (!found.ok) return true // refused at once
  const given = givenChars(edit)
  const counted = edit.boundaries?.find(({ path }) => path === found.value.path.shown)?.counted?.length ?? 0
  return (found.value.stats?.size ?? 0) + given + counted <= smallBytesMax
}

function givenChars(edit: FileEdit): number {
  if (edit.type === 'write') return edit.content.length
  if (edit.type === 'patch') return edit.diff.length
  if (edit.type === 'delete') return 0
  return edit.edits.reduce((chars, { oldText, newText }) => chars + oldText.length + newText.length, 0)
}
