import { type BlobHash, fault, ok, type Preview, type Result, refuse } from '@holdfast/protocol'
import { holdsKey, keyMark } from '../../system/secrets/known-keys.ts'
import { findPassages } from '../edits/find-passage.ts'
import { unifiedDiff } from '../edits/unified-diff.ts'
import { hashContent, readContent } from './file-content.ts'
import { findWritable } from './workspace-file.ts'

/** What a call would do to one file. Plain data, which can be sent to a thread. */
export type FileEdit = { readonly workdir: string; readonly path: string } & Readonly<
  { type: 'write'; content: string } | ({ type: 'replace' } & Replacement)
>

type Replacement = { readonly oldText: string; readonly newText: string }

export type EditPreview = {
  readonly preview: Extract<Preview, { type: 'diff' }>
  /** The whole diff, if the preview shows only its head and tail. */
  readonly whole?: Uint8Array<ArrayBuffer>
  readonly contentHash: BlobHash
}

/** Waits between reading a file and computing with it. */
type BeforeWork = () => Promise<void>

export type EditedContent = { readonly content: string; readonly contentHash: BlobHash }

/** Returns what an edit would change, as a diff. Changes nothing. */
export async function diffEdit(edit: FileEdit, beforeWork?: BeforeWork): Promise<Result<EditPreview>> {
  const found = await findWritable(edit.workdir, edit.path)
  if (!found.ok) return found
  const { path, stats } = found.value
  const { shown } = path
  const diffed = (contentHash: BlobHash, before: string | null, after: string, note = '') => {
    const diff = `${note}${unifiedDiff({ path: shown, before, after })}`
    return ok({ preview: { type: 'diff' as const, path: shown, diff }, contentHash })
  }
  if (edit.type === 'replace') {
    const replaced = await replaceIn(edit, shown, beforeWork)
    return replaced.ok ? diffed(replaced.value.contentHash, replaced.value.before, replaced.value.content) : replaced
  }
  if (stats === null) {
    await beforeWork?.()
    return diffed(hashContent(shown, null), null, edit.content)
  }
  const current = await readContent(edit.workdir, edit.path, shown)
  if (!current.ok) return current
  await beforeWork?.()
  const { contentHash, text: before } = current.value
  if (!before.ok) return diffed(contentHash, null, edit.content, `Replaced whole: ${before.fault.message}.\n`)
  // The model was shown a mark in place of a key that is in the file, and would write the mark over the key.
  if (edit.content.includes(keyMark) && holdsKey(before.value))
    return refuse(fault('bad_request', `${shown} holds a key that was shown as ${keyMark}: use edit_file for the rest`))
  return diffed(contentHash, before.value, edit.content)
}

/** Returns the new content of a file in which a passage is replaced, and identifies the old one. */
export async function editedContent(
  edit: Extract<FileEdit, { type: 'replace' }>,
  beforeWork?: BeforeWork,
): Promise<Result<EditedContent>> {
  const found = await findWritable(edit.workdir, edit.path)
  if (!found.ok) return found
  const replaced = await replaceIn(edit, found.value.path.shown, beforeWork)
  return replaced.ok ? ok({ content: replaced.value.content, contentHash: replaced.value.contentHash }) : replaced
}

async function replaceIn(
  { workdir, path, oldText, newText }: Extract<FileEdit, { type: 'replace' }>,
  shown: string,
  beforeWork?: BeforeWork,
) {
  const current = await readContent(workdir, path, shown)
  if (!current.ok) return current
  const { contentHash, text: before } = current.value
  if (!before.ok) return before
  await beforeWork?.()
  const after = replaceOnce(before.value, { oldText, newText })
  return after.ok ? ok({ before: before.value, content: after.value, contentHash }) : after
}

const linesListedMax = 10

/** Replaces the only occurrence of `oldText`. If there is not exactly one, the fault says how many and where. */
export function replaceOnce(text: string, { oldText, newText }: Replacement): Result<string> {
  const { count, first, lines } = findPassages(text, oldText, linesListedMax)
  if (count === 0) return refuse(fault('bad_request', `old_text is not found${hintOf(text, oldText)}`))
  if (count === 1) return ok(text.slice(0, first) + newText + text.slice(first + oldText.length))
  const where = `${lines.join(', ')}${count > lines.length ? ', …' : ''}`
  return refuse(
    fault('bad_request', `old_text is found ${count} times, at lines ${where}; include more of the surrounding lines`),
  )
}

/** Returns a hint for the two most common mistakes of models. */
function hintOf(text: string, oldText: string): string {
  const holds = (one: string, passage: string) => findPassages(one, passage, 0).count > 0
  if (text.includes('\r\n') && oldText.includes('\n') && holds(text.replaceAll('\r\n', '\n'), oldText))
    return '; the lines of this file end with \\r\\n, those of old_text with \\n'
  const trimmed = oldText.trim()
  if (trimmed !== '' && trimmed !== oldText && holds(text, trimmed))
    return '; without the blanks around it, it would be found'
  return '; it must be the same character for character'
}
