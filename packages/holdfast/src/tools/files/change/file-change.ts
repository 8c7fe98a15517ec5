import {
  type BlobHash,
  escapeLine,
  fault,
  isSeenWhole,
  type LineRange,
  ok,
  type Preview,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { decodeText } from '../../edits/decode-text.ts'
import { countChange, showChange } from '../../edits/show-change.ts'
import { countLines, spliceBetween } from '../../edits/splice.ts'
import { unifiedDiff } from '../../edits/unified-diff.ts'
import { hashBytes } from '../io/before-image.ts'
import { checkBoundary } from '../io/bounded-files.ts'
import { diffDelete } from '../io/entry.ts'
import { hashContent, readContent, tooLongToEdit } from '../io/file-content.ts'
import type { KnownContent } from '../io/replace-file.ts'
import { findWritable } from '../io/workspace-file.ts'
import { changeText, createText } from './change-text.ts'
import { type ComputedEdit, type ContentEdit, type FileEdit, wholeText } from './file-edit.ts'
import { editWindow } from './window-edit.ts'
import { encodeAfter, refuseUnseen, writeText } from './write-text.ts'

export type EditPreview = {
  readonly preview: Extract<Preview, { type: 'diff' }>
  /** The whole diff, if the preview shows only its head and tail. */
  readonly whole?: Uint8Array<ArrayBuffer>
  readonly contentHash: BlobHash
  /** Why a person is asked each time. */
  readonly alwaysAsk?: string
}

export type EditedContent = {
  /** The new content: its parts, one after the other, and its hash. */
  readonly parts: readonly Uint8Array[]
  readonly after: BlobHash
  readonly contentHash: BlobHash
  /** The content before; null if there is no file, or one that is too long to be edited. */
  readonly before: KnownContent | null
  /** The lines that were added and removed, and the changed lines with their numbers, for the model. */
  readonly report: string
  /** How many lines the new content has, if the session has seen all of it. */
  readonly seenLines: number | null
  /** The lines of the file's boundary in the new content; null if it has none. */
  readonly boundary: LineRange | null
}

/** Waits between reading a file and computing with it. */
type BeforeWork = () => Promise<void>

/** Returns what an edit would change, as a diff. Changes nothing. */
export async function diffEdit(edit: FileEdit, beforeWork?: BeforeWork): Promise<Result<EditPreview>> {
  if (edit.type === 'delete') return diffDelete(edit, edit.path, beforeWork)
  const computed = await computeEdit(edit, beforeWork)
  if (!computed.ok) return computed
  const { shown, firstLine, before, after, contentHash, alwaysAsk, note } = computed.value
  const diff = `${note}${unifiedDiff({ path: shown, firstLine, before, after })}`
  return ok({ preview: { type: 'diff', path: shown, diff }, contentHash, ...(alwaysAsk !== null && { alwaysAsk }) })
}

/** Returns the new content of a file, and identifies the old one. */
export async function editedContent(edit: ContentEdit, beforeWork?: BeforeWork): Promise<Result<EditedContent>> {
  const computed = await computeEdit(edit, beforeWork)
  if (!computed.ok) return computed
  const { parts, contentHash, known: before, changes, firstLine, notes, isSeen, boundary } = computed.value
  const shown = showChange(computed.value.after, changes, firstLine)
  const report = [`(${countChange(changes)})`, ...notes, shown].filter((part) => part !== '')
  const seenLines = isSeen ? computed.value.countLines() : null
  return ok({ parts, after: hashBytes(...parts), contentHash, before, report: report.join('\n'), seenLines, boundary })
}

/** Computes an edit. It is refused if it touches lines outside of the file's boundary. */
async function computeEdit(
  edit: ContentEdit,
  beforeWork?: BeforeWork,
): Promise<Result<ComputedEdit & { readonly boundary: LineRange | null }>> {
  const computed = await computeUnbounded(edit, beforeWork)
  if (!computed.ok) return computed
  const boundary = await checkBoundary(edit.boundaries, computed.value.shown, computed.value, edit.type === 'write')
  return boundary.ok ? ok({ ...computed.value, boundary: boundary.value }) : boundary
}

async function computeUnbounded(edit: ContentEdit, beforeWork?: BeforeWork): Promise<Result<ComputedEdit>> {
  const found = await findWritable(edit, edit.path)
  if (!found.ok) return found
  const { path, stats, alwaysAsk } = found.value
  const { shown } = path
  if (stats === null) {
    await beforeWork?.()
    const made = createText(edit, shown)
    if (!made.ok) return made
    const changes = countLines(spliceBetween('', made.value))
    const contentHash = hashContent(shown, null)
    const after = { ...wholeText(made.value, Buffer.from(made.value)), changes, isSeen: true }
    return ok({ shown, before: null, ...after, contentHash, known: null, alwaysAsk, note: '', notes: [] })
  }
  const current = await readContent(edit.workdir, edit.path, shown)
  if (!current.ok) return current
  const { contentHash, bytes, hash, size } = current.value
  await beforeWork?.()
  const seen = edit.seen?.find((file) => file.path === shown)
  const known = bytes && hash ? { bytes, hash } : null
  const isStale = seen !== undefined && seen.hash !== hash
  const staleNotes = isStale ? ['[the file changed since you read it; the edit still fits]'] : []
  const isSeen = seen !== undefined && !isStale && isSeenWhole(seen)
  const windowed = bytes && editWindow(edit, shown, bytes)
  if (windowed) {
    const notes = [...windowed.notes, ...staleNotes]
    return ok({ shown, contentHash, known, alwaysAsk, note: '', isSeen, ...windowed, notes })
  }
  const decoded = bytes && (await decodeText(bytes))
  if (edit.type === 'write') {
    const unseen = edit.seen && refuseUnseen(shown, seen, hash)
    if (unseen) return unseen
    const written = await writeText(edit.content, decoded, shown)
    if (!written.ok) return written
    const what =
      bytes === null ? tooLongToEdit(edit.path, size).message : `${escapeLine(shown)} is binary (${size} bytes)`
    const note = decoded ? '' : `Replaced whole: ${what}.\n`
    return ok({ shown, contentHash, known, alwaysAsk, note, notes: [], isSeen: true, ...written.value })
  }
  if (bytes === null) return refuse(tooLongToEdit(edit.path, size))
  if (decoded === null) return refuse(fault('bad_request', `${escapeLine(shown)} is binary (${size} bytes)`))
  const changed = changeText(edit, shown, decoded)
  if (!changed.ok) return changed
  const encoded = await encodeAfter(decoded, changed.value.text)
  if (!encoded.ok) return encoded
  const { text: after, changes } = changed.value
  const notes = [...changed.value.notes, ...staleNotes]
  const written = { before: decoded.text, ...wholeText(after, encoded.value), changes }
  return ok({ shown, contentHash, known, alwaysAsk, note: '', notes, isSeen, ...written })
}
