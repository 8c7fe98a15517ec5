import {
  type BlobHash,
  escapeLine,
  fault,
  isSeenWhole,
  type LineChange,
  type LineRange,
  limits,
  ok,
  type Preview,
  type Result,
  refuse,
  type SeenFile,
} from '@holdfast/protocol'
import { holdsKey, keyMark } from '../../../system/secrets/known-keys.ts'
import { applyDiff, ignored } from '../../edits/apply-diff.ts'
import { decodeText } from '../../edits/decode-text.ts'
import { isElision, isOnlyDots } from '../../edits/elision.ts'
import { checkAscii, type DecodedText, encodeText } from '../../edits/encoding.ts'
import { bodies, splitLines } from '../../edits/lines.ts'
import { countFeeds, cutWindow, type PassageWindow } from '../../edits/passage-window.ts'
import { type Replacement, replaceText } from '../../edits/replace-text.ts'
import { countChange, showChange } from '../../edits/show-change.ts'
import { countLines, spliceBetween } from '../../edits/splice.ts'
import { contextLines, unifiedDiff } from '../../edits/unified-diff.ts'
import { hashBytes } from '../io/before-image.ts'
import { checkBoundary } from '../io/bounded-files.ts'
import { diffDelete } from '../io/entry.ts'
import { hashContent, readContent, tooLongToEdit } from '../io/file-content.ts'
import type { KnownContent } from '../io/replace-file.ts'
import { findWritable, type Place } from '../io/workspace-file.ts'

/** What a call would do to one file. Plain data, which can be sent to a thread. */
export type FileEdit = Place & {
  readonly path: string
  /** What the session has seen of files; absent if that does not matter. */
  readonly seen?: readonly SeenFile[] | undefined
} & Readonly<
    | { type: 'write'; content: string }
    | { type: 'replace'; edits: readonly Replacement[] }
    | { type: 'patch'; diff: string }
    | { type: 'delete' }
  >

/** An edit that leaves a file. */
export type ContentEdit = Exclude<FileEdit, { readonly type: 'delete' }>

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

type Computed = {
  readonly shown: string
  /** The text before; null if there is no file, or none that is text. Of a long file, only the lines around the change. */
  readonly before: string | null
  readonly after: string
  /** How many lines of the file are before these texts. */
  readonly firstLine: number
  readonly parts: readonly Uint8Array[]
  /** Counts the lines of the whole new text. */
  readonly countLines: () => number
  readonly contentHash: BlobHash
  /** The bytes before, with their hash; null without a file, or for one that is too long. */
  readonly known: KnownContent | null
  readonly changes: readonly LineChange[]
  readonly alwaysAsk: string | null
  /** For people, before the diff. */
  readonly note: string
  /** For the model. */
  readonly notes: readonly string[]
  /** Whether the session knows every line of the new content. */
  readonly isSeen: boolean
}

/** Computes an edit. It is refused if it touches lines outside of the file's boundary. */
async function computeEdit(
  edit: ContentEdit,
  beforeWork?: BeforeWork,
): Promise<Result<Computed & { readonly boundary: LineRange | null }>> {
  const computed = await computeUnbounded(edit, beforeWork)
  if (!computed.ok) return computed
  const boundary = await checkBoundary(edit.boundaries, computed.value.shown, computed.value, edit.type === 'write')
  return boundary.ok ? ok({ ...computed.value, boundary: boundary.value }) : boundary
}

async function computeUnbounded(edit: ContentEdit, beforeWork?: BeforeWork): Promise<Result<Computed>> {
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

/** Returns a new text that is held whole. */
const wholeText = (after: string, bytes: Uint8Array) => ({
  after,
  firstLine: 0,
  parts: [bytes],
  countLines: () => splitLines(after).count,
})

/** Shorter files are decoded whole in a few milliseconds. */
const windowedBytesMin = 256 * 1024

type WindowEdit = Pick<Computed, 'before' | 'after' | 'firstLine' | 'parts' | 'countLines' | 'changes' | 'notes'>

/**
 * Replaces one passage of a long UTF-8 text by reading the lines around it only. The rest stays the bytes that it is. Null if
 * the whole text has to be read, also to say why the edit is refused.
 */
function editWindow(edit: ContentEdit, shown: string, bytes: Buffer): WindowEdit | null {
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

function createText(edit: ContentEdit, shown: string): Result<string> {
  if (edit.type === 'replace')
    return refuse(fault('not_found', `${escapeLine(shown)} does not exist. To create it, use write_file.`))
  if (edit.type === 'write') return checkNew(edit.content, '')
  const patched = applyDiff({ path: shown, text: null }, edit.diff)
  return patched.ok ? ok(patched.value.text) : patched
}

type Changed = { readonly text: string; readonly changes: readonly LineChange[]; readonly notes: readonly string[] }

/** Applies edits one after the other, or a diff: all of it or nothing. */
function changeText(
  edit: Exclude<ContentEdit, { type: 'write' }>,
  shown: string,
  { text, encoding }: DecodedText,
): Result<Changed> {
  if (edit.type === 'patch') {
    const patched = applyDiff({ path: shown, text }, edit.diff)
    if (!patched.ok) return patched
    const { text: after, splices, notes } = patched.value
    const ascii = checkAscii(encoding, splices)
    return ascii.ok ? ok({ text: after, changes: countLines(splices), notes }) : ascii
  }
  // Only the counts of each edit are kept: each may hold a line as long as the file, and there may be many.
  const changes: LineChange[] = []
  const notes: string[] = []
  let current = text
  for (const [index, one] of edit.edits.entries()) {
    const isOne = edit.edits.length === 1
    const name = `edit ${index + 1} of ${edit.edits.length}`
    const checked = checkNew(one.newText, `${current}\n${one.oldText}`)
    const replaced = checked.ok ? replaceText(current, one) : checked
    if (!replaced.ok) {
      const { code, message, details } = replaced.fault
      return isOne
        ? replaced
        : refuse(fault(code, `${name} (no edit was made): ${message}`, { ...details, edit: index + 1 }))
    }
    const { tier, count } = replaced.value
    if (tier !== 'exact')
      notes.push(`[${isOne ? 'old_text' : `old_text of ${name}`} was found by ignoring ${ignored[tier]}]`)
    if (count > 1) notes.push(`[${count} places were replaced]`)
    const ascii = checkAscii(encoding, replaced.value.splices)
    if (!ascii.ok) return ascii
    current = replaced.value.text
    for (const change of countLines(replaced.value.splices)) changes.push(change)
  }
  return ok({ text: current, changes, notes })
}

/** Refuses to replace a file that the session does not know as it is. */
function refuseUnseen(shown: string, known: SeenFile | undefined, hash: BlobHash | null): Result<never> | null {
  if (known === undefined || hash === null)
    return refuse(
      fault(
        'not_seen',
        `${escapeLine(shown)} exists and was not read in this session. Read it first, or use edit_file.`,
      ),
    )
  if (known.hash !== hash)
    return refuse(
      fault('content_changed', `${escapeLine(shown)} changed since it was read. Read it again; nothing was written.`),
    )
  if (isSeenWhole(known)) return null
  return refuse(
    fault('not_seen', `only a part of ${escapeLine(shown)} was read in this session. Read the rest, or use edit_file.`),
  )
}

type WrittenText = Pick<Computed, 'before' | 'after' | 'firstLine' | 'parts' | 'countLines' | 'changes'>

/** Replaces a text whole. It keeps its encoding, its byte-order mark, and line ends that are all `\r\n`. */
async function writeText(given: string, decoded: DecodedText | null, shown: string): Promise<Result<WrittenText>> {
  const content = decoded?.encoding.bom ? given.replace(/^\ufeff/, '') : given // the mark is kept, and not written twice
  const before = decoded?.text ?? null
  const checked = checkNew(content, before ?? '')
  if (!checked.ok) return checked
  if (content === '' && before !== null && before !== '')
    return refuse(
      fault('bad_request', `content is empty and ${escapeLine(shown)} is not. To remove the file, use delete_file.`),
    )
  // The model was shown a mark in place of a key that is in the file, and would write the mark over the key.
  if (before !== null && content.includes(keyMark) && holdsKey(before))
    return refuse(
      fault('bad_request', `${escapeLine(shown)} holds a key that was shown as ${keyMark}: use edit_file for the rest`),
    )
  const after =
    before !== null && hasOnlyReturns(before) && !content.includes('\r\n') ? content.replaceAll('\n', '\r\n') : content
  const splices = spliceBetween(before ?? '', after)
  const ascii = decoded ? checkAscii(decoded.encoding, splices) : ok(undefined)
  if (!ascii.ok) return ascii
  const encoded = decoded ? await encodeAfter(decoded, after) : ok(Buffer.from(after))
  return encoded.ok ? ok({ before, ...wholeText(after, encoded.value), changes: countLines(splices) }) : encoded
}

const hasOnlyReturns = (text: string): boolean => text.includes('\r\n') && !/(?:^|[^\r])\n/.test(text)

function encodeAfter({ encoding, text: before }: DecodedText, text: string): Promise<Result<Buffer>> {
  const isTwice = encoding.bom && text.startsWith('\ufeff') && !before.startsWith('\ufeff')
  return encodeText(isTwice ? text.slice(1) : text, encoding)
}

/** A line that only read_file writes. */
const notice = /^\[(?:lines \d+–\d+ of \d+|the file goes on|line \d+ is cut)/

/** Characters of a suspicious line that are compared and shown. */
const suspectCharsMax = 200

/** Refuses new text in which something stands for lines that are not there. `known` text may have such lines itself. */
function checkNew(text: string, known: string): Result<string> {
  if (text.includes('\0') && !known.includes('\0'))
    return refuse(fault('bad_request', 'the new text has a NUL character, which would make the file binary'))
  const lines = bodies(text)
  const suspect = lines.find((line) => notice.test(line) || (isElision(line) && !isOnlyDots(line)))
  // A notice of read_file may be followed by as much text as one likes; its beginning tells.
  const told = suspect?.trim().slice(0, suspectCharsMax)
  if (told !== undefined && !known.includes(told))
    return refuse(
      fault('elided', `the new text has the line ${JSON.stringify(told)}: write out every line of the file`),
    )
  const isNumbered =
    lines.length > 1 &&
    lines.every((line, index) => line.startsWith(`${Number.parseInt(lines[0] ?? '', 10) + index}\t`))
  if (isNumbered)
    return refuse(
      fault('bad_request', 'the new text begins each line with its number, as read_file shows it: leave these out'),
    )
  return ok(text)
}
