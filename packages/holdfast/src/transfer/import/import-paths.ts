import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { type Fault, fault, type Result, type SessionId } from '@holdfast/protocol'
import { detect } from './detect.ts'
import { type Fate, importConversation } from './import-conversation.ts'
import { importOwn } from './import-own.ts'
import type { ImportRemark, Remark } from './parse/conversation.ts'
import type { FormatName } from './parse/format.ts'
import { readConversation } from './read-conversation.ts'
import { type Found, walk } from './walk.ts'
import { createPool } from './write/pool.ts'
import type { ImportDeps } from './write/write-past.ts'

export type ImportOptions = {
  /** The program the files are of; known by what is in them when absent. */
  readonly from?: FormatName | undefined
  /** Called once, before the first file is read, with how many there are. */
  readonly onCount?: ((files: number) => void) | undefined
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
/** Small files are read side by side, so that their syncs are shared; a larger one takes more places, a large one all. */
const placesAtOnce = 64
const placeBytes = 2 * 1024 * 1024
const aloneBytes = 16 * 1024 * 1024

/** Imports files and folders; each file by itself, so that one that is damaged harms no other. */
export async function importPaths(
  parts: ImportDeps,
  paths: readonly string[],
  options: ImportOptions = {},
): Promise<readonly ImportedFile[]> {
  const done: ImportedFile[] = []
  const pool = createPool(placesAtOnce)
  const tell = (file: ImportedFile): void => {
    done.push(file)
    options.onFile?.(file)
  }
  const found: Found[] = []
  for (const path of paths) for await (const one of walk(path)) found.push(one)
  options.onCount?.(found.length)
  for (const one of found) {
    if (options.signal?.aborted) break
    if (one.type === 'unread') tell(failed(one.path, one.cause))
    else if (one.type === 'passed') tell(skipped(nothing(one.path), one.why))
    else {
      const work = async () => tell(await importFile(parts, one.path, options.from ?? null))
      await pool.run(work, await placesFor(one.path))
    }
  }
  await pool.idle()
  return done
}

async function placesFor(path: string): Promise<number> {
  const size = await stat(path).then(
    (stats) => stats.size,
    () => 0,
  )
  return size > aloneBytes ? placesAtOnce : Math.max(1, Math.ceil(size / placeBytes))
}

const failed = (file: string, cause: unknown): ImportedFile => {
  const message = cause instanceof Error ? cause.message : String(cause)
  return { ...nothing(file), status: 'failed', fault: fault('bad_request', `${file} cannot be read: ${message}`) }
}

const nothing = (file: string): ImportedFile => ({
  ...{ file, format: null, status: 'skipped', session: null, messages: 0, bytes: 0 },
  remarks: [],
})

const skipped = (about: ImportedFile, why: string): ImportedFile => ({
  ...about,
  fault: fault('bad_request', `${about.file} ${why}`),
})

async function importFile(parts: ImportDeps, path: string, from: FormatName | null): Promise<ImportedFile> {
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
    const blank = { ...nothing(path), ...about }
    if (!stats.isFile()) return skipped(blank, 'is no file.')
    if (stats.size > fileBytesMax) return skipped(blank, `has more than ${fileBytesMax} bytes.`)
    const told = await importOpened(parts, path, file, stats.size, from, remark)
    if ('skipped' in told) return skipped(blank, told.skipped)
    const { format, fate } = told
    if (!fate.ok) return { ...blank, format, status: 'failed', fault: fate.fault }
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
  parts: ImportDeps,
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
