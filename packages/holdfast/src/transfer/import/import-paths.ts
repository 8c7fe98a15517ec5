import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { type Fault, fault, type Result, type SessionId } from '@holdfast/protocol'
import { detect } from './detect.ts'
import { type ImportOutcome, importConversation } from './import-conversation.ts'
import { importHoldfast } from './import-holdfast.ts'
import type { ImportRemark, Remark } from './parse/conversation.ts'
import type { FormatName } from './parse/format.ts'
import { readConversation } from './read-conversation.ts'
import { type WalkedPath, walkPath } from './walk.ts'
import { createPool } from './write/pool.ts'
import type { ImportDeps } from './write/write-log.ts'

export type ImportOptions = {
  /** The program that wrote the files; detected from their content by default. */
  readonly from?: FormatName | undefined
  /** Called once with the number of files, before the first is read. */
  readonly onCount?: ((files: number) => void) | undefined
  /** Called after each file. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The result of one file, and what the import changed. */
export type ImportedFile = {
  readonly file: string
  readonly format: FormatName | null
  readonly status: ImportOutcome['status'] | 'skipped' | 'failed'
  readonly session: SessionId | null
  readonly messages: number
  readonly bytes: number
  readonly remarks: readonly ImportRemark[]
  readonly fault?: Fault | undefined
}

const remarksMax = 1000
const fileBytesMax = 512 * 1024 * 1024
/** Small files are imported concurrently, so that they share disk syncs. Larger ones take more slots, large ones all. */
const slotsMax = 64
const slotBytes = 2 * 1024 * 1024
const aloneBytes = 16 * 1024 * 1024

/** Imports files and folders. A damaged file does not affect the others. */
export async function importPaths(
  deps: ImportDeps,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<readonly ImportedFile[]> {
  const done: ImportedFile[] = []
  const pool = createPool(slotsMax)
  const report = (file: ImportedFile): void => {
    done.push(file)
    options.onFile?.(file)
  }
  const found: WalkedPath[] = []
  for (const path of paths) for await (const entry of walkPath(path)) found.push(entry)
  options.onCount?.(found.length)
  for (const entry of found) {
    if (options.signal?.aborted) break
    if (entry.type === 'unread') report(createFailure(entry.path, entry.cause))
    else if (entry.type === 'skipped') report(createSkip(createEmptyResult(entry.path), entry.why))
    else {
      const work = async () => report(await importFile(deps, entry.path, options.from ?? null))
      await pool.run(work, await countSlots(entry.path))
    }
  }
  await pool.idle()
  return done
}

async function countSlots(path: string): Promise<number> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  )
  return size > aloneBytes ? slotsMax : Math.max(1, Math.ceil(size / slotBytes))
}

const createFailure = (file: string, cause: unknown): ImportedFile => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return {
    ...createEmptyResult(file),
    status: 'failed',
    fault: fault('bad_request', `${file} cannot be read: ${message}`),
  }
}

const createEmptyResult = (file: string): ImportedFile => ({
  ...{ file, format: null, status: 'skipped', session: null, messages: 0, bytes: 0 },
  remarks: [],
})

const createSkip = (result: ImportedFile, why: string): ImportedFile => ({
  ...result,
  fault: fault('bad_request', `${result.file} ${why}`),
})

async function importFile(deps: ImportDeps, path: string, from: FormatName | null): Promise<ImportedFile> {
  const remarks: ImportRemark[] = []
  const remark: Remark = (line, code, what) => {
    if (remarks.length < remarksMax) remarks.push({ line, code, what })
  }
  let file: FileHandle
  try {
    // O_NONBLOCK: opening a pipe must not block.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    return createFailure(path, cause)
  }
  try {
    const stats = await file.stat()
    const facts = { file: path, bytes: stats.size, remarks }
    const blank = { ...createEmptyResult(path), ...facts }
    if (!stats.isFile()) return createSkip(blank, 'is not a file.')
    if (stats.size > fileBytesMax) return createSkip(blank, `has more than ${fileBytesMax} bytes.`)
    const imported = await importOpened(deps, path, file, stats.size, from, remark)
    if ('skipped' in imported) return createSkip(blank, imported.skipped)
    const { format, outcome } = imported
    if (!outcome.ok) return { ...blank, format, status: 'failed', fault: outcome.fault }
    return { ...facts, format, ...outcome.value }
  } catch (cause) {
    return { ...createFailure(path, cause), remarks }
  } finally {
    await file.close()
  }
}

const reasons = {
  empty: 'is empty.',
  not_a_session: 'is not a session file that Holdfast can import.',
  damaged: 'is too damaged to be read.',
  too_large: 'is a single document that is too large to be read.',
} as const

type FileOutcome =
  | { readonly format: FormatName; readonly outcome: Result<ImportOutcome> }
  | { readonly skipped: string }

async function importOpened(
  deps: ImportDeps,
  path: string,
  file: FileHandle,
  size: number,
  from: FormatName | null,
  remark: Remark,
): Promise<FileOutcome> {
  const detected = await detect(file, size, from)
  if (detected.type === 'none') return { skipped: reasons[detected.why] }
  if (detected.type === 'holdfast') return { format: 'holdfast', outcome: await importHoldfast(deps, file, remark) }
  const { name } = detected.format
  const conversation = await readConversation(path, file, detected, remark)
  return { format: name, outcome: await importConversation(deps, name, conversation, remark) }
}
