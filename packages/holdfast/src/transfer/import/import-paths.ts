import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import {
  companionName,
  errorMessage,
  type Fault,
  fault,
  HoldfastError,
  limits,
  type Result,
  type SessionId,
} from '@holdfast/protocol'
import { type Detected, detect } from './detect.ts'
import type { ImportDeps } from './host/import-deps.ts'
import { type ImportOutcome, importConversation } from './import-conversation.ts'
import { importHoldfast } from './import-holdfast.ts'
import type { ImportedConversation, ImportRemark, Remark } from './parse/conversation.ts'
import type { FormatName, ReadCompanionFile } from './parse/format.ts'
import { decode, parseLine, readLines } from './parse/read-lines.ts'
import { openSourceFile, type SourceFile } from './parse/source-file.ts'
import { type WalkedPath, walkPath } from './walk-paths.ts'
import { createPool } from './write/pool.ts'

/** How to read the files. */
export type ImportFileOptions = {
  /** The program that wrote the files; detected from their content by default. */
  readonly from?: FormatName | undefined
  /**
   * For Holdfast's own format: keeps the instructions, provider options, permissions and trust of the session. They are
   * left out by default, because the author of the file chose them, not the person who imports it.
   */
  readonly keepSettings?: boolean | undefined
}

/** Callbacks for the progress of an import. */
export type ImportProgress = {
  /** Called once with all files, before the first is read. */
  readonly onFound?: ((files: readonly string[]) => void) | undefined
  /** Called when a file is begun, with its index. */
  readonly onBegin?: ((index: number, isLarge: boolean) => void) | undefined
  /** Called after each file. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined
}

/** The result of one file, and what the import changed. */
export type ImportedFile = {
  /** The path of the file. */
  readonly file: string
  /** The program that wrote it; null if unknown. */
  readonly format: FormatName | null
  /** What became of it. */
  readonly status: ImportOutcome['status'] | 'skipped' | 'failed'
  /** The session it became; null if there is none. */
  readonly session: SessionId | null
  /** How many messages it has. */
  readonly messages: number
  /** The size of the file. */
  readonly bytes: number
  /** What the import changed or left out. */
  readonly remarks: readonly ImportRemark[]
  /** Why it failed or was skipped. */
  readonly fault?: Fault | undefined
}

const remarksMax = 1000
const fileBytesMax = 512 * 1024 * 1024
/**
 * Small files are imported concurrently, so that they share disk syncs, and so that some are read while others are written.
 * Larger ones take more slots, large ones all: each is in memory as a whole until it is written.
 */
const slotsMax = 1024
const slotBytes = 16 * 1024
/** After this many slots were taken, the messages of other threads are read: the store writes what was built so far. */
const slotsPerSlice = 32

/**
 * Imports files and folders. A damaged file does not affect the others. Files of `skip` are left out: an earlier call
 * reported them. It reads and parses without waiting, so a program runs it on a thread.
 */
export async function importPaths(
  deps: ImportDeps,
  paths: readonly string[],
  options: ImportFileOptions & ImportProgress = {},
  skip: ReadonlySet<string> = new Set(),
): Promise<readonly ImportedFile[]> {
  const done: ImportedFile[] = []
  const pool = createPool(slotsMax)
  const known: KnownKeys = { looksFirst: false }
  const report = (file: ImportedFile): void => {
    done.push(file)
    options.onFile?.(file)
  }
  const walked: WalkedPath[] = []
  for (const path of paths) for await (const entry of walkPath(path)) walked.push(entry)
  const found = withoutCompanions(walked)
  options.onFound?.(found.map(({ path }) => path))
  let taken = 0
  for (const [index, entry] of found.entries()) {
    if (skip.has(entry.path)) continue
    const opened = openPath(entry)
    const slots = 'file' in opened ? countSlots(opened.file.size) : 1
    options.onBegin?.(index, slots > 1)
    if ('file' in opened) {
      const work = async () => report(await importFile(deps, entry.path, opened.file, options, known))
      await pool.run(work, slots)
    } else report(opened.result)
    taken += slots
    if (taken >= slotsPerSlice) {
      taken = 0
      await setImmediate()
    }
  }
  await pool.idle()
  return done
}

/** Leaves out files that describe a session beside them: they are read with it. */
function withoutCompanions(walked: readonly WalkedPath[]): readonly WalkedPath[] {
  const owners = new Map<string, string>()
  for (const { path, type } of walked) {
    const companion = type === 'file' ? companionName(path) : null
    if (companion !== null) owners.set(companion, path)
  }
  return walked.filter(({ path }) => {
    const owner = owners.get(path)
    return owner === undefined || !hasCompanion(owner)
  })
}

/** Returns whether a file is of a program that describes its sessions in files beside them. */
function hasCompanion(path: string): boolean {
  const opened = openPath({ type: 'file', path })
  if (!('file' in opened)) return false
  using file = opened.file
  const detected = file.isFile ? detect(file, null) : null
  return detected?.type === 'lines' && detected.format.hasCompanion === true
}

const countSlots = (size: number): number => Math.min(slotsMax, Math.max(1, Math.ceil(size / slotBytes)))

/** Opens a file that was found. Returns the result of one that cannot be imported. */
function openPath(entry: WalkedPath): { readonly file: SourceFile } | { readonly result: ImportedFile } {
  if (entry.type === 'unread') return { result: createFailure(entry.path, entry.cause) }
  if (entry.type === 'skipped') return { result: createSkip(createEmptyResult(entry.path), entry.why) }
  try {
    return { file: openSourceFile(entry.path) }
  } catch (cause) {
    return { result: createFailure(entry.path, cause) }
  }
}

function createFailure(file: string, cause: unknown): ImportedFile {
  const known = cause instanceof HoldfastError ? cause.toFault() : null
  const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT'
  const message = isMissing ? `${file} does not exist.` : `${file} cannot be read: ${errorMessage(cause)}`
  return { ...createEmptyResult(file), status: 'failed', fault: known ?? fault('bad_request', message) }
}

/** Returns the result of a file that was not imported. */
export const createFailedFile = (file: string, why: Fault): ImportedFile => ({
  ...createEmptyResult(file),
  status: 'failed',
  fault: why,
})

const createEmptyResult = (file: string): ImportedFile => ({
  file,
  format: null,
  status: 'skipped',
  session: null,
  messages: 0,
  bytes: 0,
  remarks: [],
})

const createSkip = (result: ImportedFile, why: string): ImportedFile => ({
  ...result,
  fault: fault('bad_request', `${result.file} ${why}`),
})

/** Whether an import looks up each key before it creates a session with it. */
type KnownKeys = { looksFirst: boolean }

async function importFile(
  deps: ImportDeps,
  path: string,
  opened: SourceFile,
  options: ImportFileOptions,
  known: KnownKeys,
): Promise<ImportedFile> {
  const first = await importOnce(deps, path, opened, options, known.looksFirst)
  const code = first.fault?.code
  if (code !== 'key_taken' && code !== 'handle_taken') return first
  known.looksFirst ||= code === 'key_taken'
  const again = openPath({ type: 'file', path })
  return 'file' in again ? importOnce(deps, path, again.file, options, true) : again.result
}

async function importOnce(
  deps: ImportDeps,
  path: string,
  opened: SourceFile,
  options: ImportFileOptions,
  looksFirst: boolean,
): Promise<ImportedFile> {
  const remarks: ImportRemark[] = []
  const remark: Remark = (line, code, what) => {
    if (remarks.length < remarksMax) remarks.push({ line, code, what })
  }
  try {
    using file = opened
    const blank = { ...createEmptyResult(path), bytes: file.size, remarks }
    if (!file.isFile) return createSkip(blank, 'is not a file.')
    if (file.size > fileBytesMax) return createSkip(blank, `has more than ${fileBytesMax} bytes.`)
    const begun = beginFile(deps, path, file, options, remark, looksFirst)
    if ('why' in begun) return createSkip(blank, reasons[begun.why])
    const { format } = begun
    // It has been read: its bytes are not kept while a thousand others are written. A Holdfast log is read while it is written.
    if (format !== 'holdfast') file[Symbol.dispose]()
    const outcome = await begun.outcome
    if (!outcome.ok) return { ...blank, format, status: 'failed', fault: outcome.fault }
    return { ...blank, format, ...outcome.value }
  } catch (cause) {
    return { ...createFailure(path, cause), remarks }
  }
}

type BegunFile = { readonly format: FormatName; readonly outcome: Promise<Result<ImportOutcome>> }

/** Parses a file and begins to write its session. Not async, so that what it parsed is not kept while that is written. */
function beginFile(
  deps: ImportDeps,
  path: string,
  file: SourceFile,
  { from, keepSettings = false }: ImportFileOptions,
  remark: Remark,
  looksFirst: boolean,
): BegunFile | Extract<Detected, { type: 'none' }> {
  const detected = detect(file, from ?? null)
  if (detected.type === 'none') return detected
  if (detected.type === 'holdfast')
    return { format: 'holdfast', outcome: importHoldfast(deps, file, remark, { keepSettings }) }
  const format = detected.format.name
  const conversation = readConversation(path, file, detected, remark)
  return { format, outcome: importConversation(deps, format, conversation, remark, looksFirst) }
}

const reasons = {
  empty: 'is empty.',
  not_a_session: 'is not a session file that Holdfast can import.',
  damaged: 'is too damaged to be read.',
  too_large: 'is a single document that is too large to be read.',
} as const

/** Reads a file of a known format. Unreadable parts are left out, with a remark. */
function readConversation(
  path: string,
  file: SourceFile,
  detected: Extract<Detected, { type: 'lines' | 'document' }>,
  remark: Remark,
): ImportedConversation {
  if (detected.type === 'document') {
    const { bytes, isRepaired } = detected
    decode(bytes, null, remark)
    if (isRepaired)
      remark(null, 'damaged_file', 'The file is truncated or damaged; its readable beginning was imported.')
    return withId(detected.format.parse(detected.value, remark), path)
  }
  const parser = detected.format.parse(remark, createCompanionReader(path))
  let index = 0
  for (const line of readLines(file, remark)) {
    const value = parseLine(line, remark, detected.parsed[line.number - 1])
    if (value) parser.add(value, line.number, index)
    index++
  }
  return withId(parser.end(), path)
}

const createCompanionReader =
  (path: string): ReadCompanionFile =>
  () => {
    const other = companionName(path)
    const size = other === null ? 0 : findSize(other)
    return other !== null && size > 0 && size <= limits.companionBytesMax ? readFileSync(other, 'utf8') : null
  }

/** Returns the size of a file; 0 if there is none that can be read. */
function findSize(path: string): number {
  try {
    const found = statSync(path)
    return found.isFile() ? found.size : 0
  } catch {
    return 0
  }
}

/** Adds an id, derived from the file name and the first message, to a conversation without one. */
function withId(conversation: ImportedConversation, path: string): ImportedConversation {
  if (conversation.about.id !== undefined) return conversation
  const first = conversation.messages.find(({ role }) => role === 'user')
  const digest = createHash('sha256')
    .update(JSON.stringify([basename(path), first ?? null]))
    .digest('hex')
  return { ...conversation, about: { ...conversation.about, id: `file-${digest.slice(0, 32)}` } }
}
