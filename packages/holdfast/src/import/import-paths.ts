import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { type Fault, fault, ok, type Result, type SessionId } from '@holdfast/protocol'
import type { ImportRemark, Remark } from './conversation.ts'
import { detect } from './detect.ts'
import type { FormatName } from './format.ts'
import { type Fate, importConversation } from './import-conversation.ts'
import { bringToRest, readOwnLog } from './own-log.ts'
import { readConversation } from './read-conversation.ts'
import { createPool } from './stored-parts.ts'
import { walk } from './walk.ts'
import { type ImportParts, writePast } from './write-past.ts'

export type ImportOptions = {
  /** The program the files are of; known by what is in them when absent. */
  readonly from?: FormatName | undefined
  /** Called after each file. */
  readonly onFile?: ((file: ImportedFile) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** What became of one file, and what was changed on the way. */
export type ImportedFile = {
  readonly file: string
  readonly format: FormatName | null
  readonly status: Fate['status'] | 'skipped' | 'failed'
  readonly session: SessionId | null
  readonly messages: number
  readonly bytes: number
  readonly remarks: readonly ImportRemark[]
  readonly fault?: Fault | undefined
}

const remarksMax = 1000
const fileBytesMax = 512 * 1024 * 1024
/** Small files are read side by side, so that their syncs are shared; a large one is read alone. */
const filesAtOnce = 8
const aloneBytes = 16 * 1024 * 1024

/** Imports files and folders; each file by itself, so that one that is damaged harms no other. */
export async function importPaths(
  parts: ImportParts,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<readonly ImportedFile[]> {
  const done: ImportedFile[] = []
  const pool = createPool(filesAtOnce)
  const one = async (path: string) => {
    const file = await importFile(parts, path, options.from ?? null)
    done.push(file)
    options.onFile?.(file)
  }
  for (const path of paths) {
    try {
      for await (const file of walk(path)) {
        if (options.signal?.aborted) break
        const isLarge = await stat(file).then(
          ({ size }) => size > aloneBytes,
          () => false,
        )
        if (isLarge) await pool.idle()
        await pool.run(() => one(file))
        if (isLarge) await pool.idle()
      }
    } catch (cause) {
      const file = failed(path, cause)
      done.push(file)
      options.onFile?.(file)
    }
  }
  await pool.idle()
  return done
}

const failed = (file: string, cause: unknown): ImportedFile => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return { ...nothing(file), status: 'failed', fault: fault('bad_request', `${file} cannot be read: ${message}`) }
}

const nothing = (file: string): ImportedFile => ({
  ...{ file, format: null, status: 'skipped', session: null, messages: 0, bytes: 0 },
  remarks: [],
})

async function importFile(parts: ImportParts, path: string, from: FormatName | null): Promise<ImportedFile> {
  const remarks: ImportRemark[] = []
  const remark: Remark = (line, code, what) => {
    if (remarks.length < remarksMax) remarks.push({ line, code, what })
  }
  let file: FileHandle
  try {
    // O_NONBLOCK: a pipe must not be waited for.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    return failed(path, cause)
  }
  try {
    const stats = await file.stat()
    const about = { file: path, bytes: stats.size, remarks }
    const skipped = (message: string) => ({ ...nothing(path), ...about, fault: fault('bad_request', message) })
    if (!stats.isFile()) return skipped(`${path} is no file.`)
    if (stats.size > fileBytesMax) return skipped(`${path} has more than ${fileBytesMax} bytes.`)
    const told = await importOpened(parts, path, file, stats.size, from, remark)
    if ('skipped' in told) return skipped(`${path} ${told.skipped}`)
    const { format, fate } = told
    if (!fate.ok) return { ...nothing(path), ...about, format, status: 'failed', fault: fate.fault }
    return { ...about, format, ...fate.value }
  } catch (cause) {
    return { ...failed(path, cause), remarks }
  } finally {
    await file.close()
  }
}

const reasons = {
  empty: 'is empty.',
  not_a_session: 'holds no session of a form we know.',
  damaged: 'is damaged beyond reading.',
  too_large: 'is one document larger than can be read.',
} as const

type Told = { readonly format: FormatName; readonly fate: Result<Fate> } | { readonly skipped: string }

async function importOpened(
  parts: ImportParts,
  path: string,
  file: FileHandle,
  size: number,
  from: FormatName | null,
  remark: Remark,
): Promise<Told> {
  const detected = await detect(file, size, from)
  if (detected.type === 'none') return { skipped: reasons[detected.why] }
  if (detected.type === 'holdfast') return { format: 'holdfast', fate: await importOwn(parts, file, remark) }
  const { name } = detected.format
  const conversation = await readConversation(path, file, detected, remark)
  return { format: name, fate: await importConversation(parts, name, conversation, remark) }
}

/** The last session of the file is the one that was written out; those before it are the past it shares. */
async function importOwn(parts: ImportParts, file: FileHandle, remark: Remark): Promise<Result<Fate>> {
  const pasts = await readOwnLog(file, parts.blobs, remark)
  if (!pasts.ok) return pasts
  let fate: Fate = { status: 'empty', session: null, messages: 0 }
  for (const past of pasts.value) {
    const ownRecords = past.records.length
    const now = parts.clock.now()
    bringToRest(past, now, remark)
    const written = await writePast(parts, past, ownRecords)
    if (!written.ok) return written
    const { status, handleChanged } = written.value
    if (handleChanged) remark(null, 'handle_changed', 'Another session has its handle; it got a new one.')
    fate = { status, session: past.session, messages: past.folded.row.entry.meta.messageCount }
    if (status === 'changed') return ok(fate)
  }
  return ok(fate)
}
