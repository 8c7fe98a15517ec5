import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, link, lstat, open, rename, unlink } from 'node:fs/promises'
import { basename } from 'node:path'
import { ownSlice, type ToolRun } from '@holdfast/core/ports'
import {
  type BeforeImage,
  type BlobHash,
  escapeLine,
  type FileChange,
  fault,
  ok,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { type OpenDirectory, openLeaf } from '../../../system/files/open-file.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { hashBytes, keepBefore, tooLong } from './before-image.ts'
import { hashAt, hashContent, identify, isContentAt, readSmall } from './file-content.ts'
import { oneByOneAt } from './path-queue.ts'
import { findWritable, openParent, type Place } from './workspace-file.ts'

type ReplaceOptions = Pick<ToolRun, 'signal' | 'blobs'> & {
  /** The content that may be replaced; any, if absent. */
  readonly expected?: BlobHash | undefined
  /** The content that the new one was made from, which is then not read again. It is compared before the change. */
  readonly before?: KnownContent | undefined
  /** The hash of the new content, if it is known. */
  readonly after?: BlobHash | undefined
  /** The permission bits of the new file; those of the old one if absent. */
  readonly mode?: number | undefined
}

/** The bytes of a file with their hash. */
export type KnownContent = { readonly bytes: Uint8Array; readonly hash: BlobHash }

type Replaced = { readonly change: FileChange; readonly note: string | null }

/**
 * Writes the parts of a content to `path` atomically. Creates missing directories inside the workdir. Keeps what was there first. If the
 * file does not have the expected content directly before the change, nothing is written.
 */
export async function replaceFile(
  place: Place,
  path: string,
  parts: readonly Uint8Array[],
  options: ReplaceOptions,
): Promise<Result<Replaced>> {
  const found = await findWritable(place, path)
  if (!found.ok) return found
  const { absolute, shown } = found.value.path
  return oneByOneAt(absolute, async () => {
    const opened = await openParent(found.value.path)
    if (!opened.ok) return opened
    await using parent = opened.value
    return await replaceIn(parent, { name: basename(absolute), shown, parts }, options)
  })
}

/** A longer file is written beside the old one while the old content is hashed and kept. Only the move waits for both. */
const writtenAheadBytes = 1024 * 1024

type Target = { readonly name: string; readonly shown: string; readonly parts: readonly Uint8Array[] }

async function replaceIn(
  parent: OpenDirectory,
  { name, shown, parts }: Target,
  { signal, blobs, expected, before: known, after: hashAfter, mode }: ReplaceOptions,
): Promise<Result<Replaced>> {
  const stats = await lstat(parent.at(name)).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  })
  if (stats !== null && !stats.isFile())
    return refuse(fault('bad_request', `${escapeLine(shown)} is no longer a regular file`))
  const isKnown = known !== undefined && expected !== undefined // else nothing would compare the bytes
  const current = stats === null ? ok(null) : isKnown ? ok(known.bytes) : await readBefore(parent, name, shown)
  if (!current.ok) return current
  const content = current.value
  const isSmall = parts.reduce((sum, part) => sum + part.length, 0) <= writtenAheadBytes
  const keep = async (): Promise<BeforeImage | 'changed'> => {
    if (!isSmall) await ownSlice() // the write begins first, on another thread
    const hash = content instanceof Uint8Array ? (isKnown ? known.hash : hashBytes(content)) : null
    const isOther = expected !== undefined && content !== 'long' && identify(shown, hash) !== expected
    return isOther ? 'changed' : toBefore(content, stats, blobs, hash)
  }
  const keeping = keep()
  keeping.catch(() => undefined) // awaited below
  if (isSmall && (await keeping) === 'changed') return refuse(contentChanged(shown))

  const isExpected = async () => {
    if ((await keeping) === 'changed') return false
    if (expected === undefined) return true
    if (content instanceof Uint8Array) return isContentAt(parent.at(name), content)
    return (await hashAt(parent.at(name), shown)) === expected
  }
  const inPlace = stats === null ? null : whyInPlace(stats)
  const write = { parent, name, parts, hashAfter, stats, signal, isExpected, mode }
  const written = inPlace
    ? await writeInPlace(write)
    : await writeBeside({ ...write, isNew: expected === hashContent(shown, null) })
  if (written === 'aborted') return refuse(fault('bad_request', 'aborted before anything was written'))
  const before = await keeping
  if (written === 'changed' || before === 'changed') return refuse(contentChanged(shown))
  const { after } = written
  return ok({
    change: {
      path: shown,
      change: stats === null ? 'created' : 'modified',
      contentHash: identify(shown, after),
      before,
      after,
      mode: written.mode,
    },
    note: inPlace && `written in place, because ${inPlace}`,
  })
}

/** Reads a file through its directory; `long` if it is too long to be compared. */
async function readBefore(parent: OpenDirectory, name: string, shown: string): Promise<Result<Buffer | 'long'>> {
  const opened = await openLeaf(parent, name, shown)
  if (!opened.ok) return opened
  await using handle = opened.value.handle
  return ok((await readSmall(handle, opened.value.stats)) ?? 'long')
}

async function toBefore(
  bytes: Uint8Array | null | 'long',
  stats: Stats | null,
  blobs: ToolRun['blobs'],
  hash: BlobHash | null,
): Promise<BeforeImage> {
  if (bytes === null || stats === null) return { type: 'absent' }
  if (bytes === 'long') return { type: 'not_kept', why: tooLong(stats.size) }
  return keepBefore(bytes, stats.mode, blobs, hash ?? hashBytes(bytes))
}

const contentChanged = (shown: string) =>
  fault(
    'content_changed',
    `${escapeLine(shown)} changed after this call was prepared; nothing was written. Read it again.`,
  )

/** Returns why a file must keep its inode; null if it may be replaced by another. */
function whyInPlace({ nlink, uid }: Stats): string | null {
  if (nlink > 1) return `it has ${nlink} hard links`
  const own = process.geteuid?.()
  return own !== undefined && own !== 0 && uid !== own ? 'it belongs to another user' : null
}

type Write = {
  readonly parent: OpenDirectory
  readonly name: string
  readonly parts: readonly Uint8Array[]
  readonly hashAfter: BlobHash | undefined
  readonly stats: Stats | null
  readonly signal: AbortSignal
  readonly isExpected: () => Promise<boolean>
  readonly mode: number | undefined
}

/** The permission bits and the hash of the file that was written, or why none was. */
type Written = { readonly mode: number; readonly after: BlobHash } | 'aborted' | 'changed'

/** Writes over the bytes of a file. A crash meanwhile leaves it torn; its content before is stored. */
async function writeInPlace({
  parent,
  name,
  parts,
  hashAfter,
  stats,
  signal,
  isExpected,
  mode,
}: Write): Promise<Written> {
  const flags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
  await using handle = await open(parent.at(name), flags)
  const now = await handle.stat()
  if (!now.isFile() || now.ino !== stats?.ino || now.dev !== stats.dev) return 'changed'
  if (signal.aborted) return 'aborted'
  if (!(await isExpected())) return 'changed'
  const after = await writeAndHash(handle, parts, hashAfter)
  await handle.truncate(parts.reduce((sum, part) => sum + part.length, 0))
  if (mode !== undefined) await handle.chmod(mode)
  await handle.sync()
  return { mode: mode ?? now.mode & 0o7777, after }
}

/** Writes in as few steps as possible: `writeFile` of Node takes one for each 512 KB. */
async function writeAll(handle: FileHandle, parts: readonly Uint8Array[]): Promise<void> {
  let rest = parts.filter((part) => part.length > 0)
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest)
    rest = partsAfter(rest, bytesWritten)
  }
}

/** Leaves out the first bytes of some parts. */
function partsAfter(parts: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let start = 0
  return parts.flatMap((part) => {
    const written = Math.min(part.length, Math.max(0, bytes - start))
    start += part.length
    return written < part.length ? [part.subarray(written)] : []
  })
}

/** Writes the parts of a content, and hashes them meanwhile if their hash is not known. */
async function writeAndHash(handle: FileHandle, parts: readonly Uint8Array[], known?: BlobHash): Promise<BlobHash> {
  const [after] = await Promise.all([known ?? hashLater(parts), writeAll(handle, parts)])
  return after
}

const hashLater = async (parts: readonly Uint8Array[]): Promise<BlobHash> => {
  await ownSlice() // the write begins first, on another thread
  return hashBytes(...parts)
}

async function writeBeside({
  parent,
  name,
  parts,
  hashAfter,
  stats,
  signal,
  isExpected,
  mode,
  isNew,
}: Write & { readonly isNew: boolean }): Promise<Written> {
  const temporary = parent.at(`.${randomUUID()}.tmp`) // not derived from `name`, which may already have the maximum length
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  await using handle = await open(temporary, flags, stats === null ? 0o666 : 0o600)
  let isMoved = false
  try {
    const after = await writeAndHash(handle, parts, hashAfter)
    if (stats !== null) await keepOwnerAndMode(handle, stats)
    if (mode !== undefined) await handle.chmod(mode)
    await handle.sync()
    const written = (await handle.stat()).mode & 0o7777
    if (signal.aborted) return 'aborted'
    if (!(await isExpected())) return 'changed' // as late as possible: nothing locks the file
    isMoved = await moveHere(temporary, parent.at(name), isNew)
    if (!isMoved) return 'changed'
    await parent.sync()
    return { mode: written, after }
  } finally {
    if (!isMoved) await unlink(temporary).catch(() => undefined) // the first failure is the one to report
  }
}

/** Moves a file. Returns false if nothing may exist at the new path and something does. */
export async function moveHere(from: string, to: string, isNew: boolean): Promise<boolean> {
  if (isNew) {
    const linked = await link(from, to).then(
      () => 'linked',
      (error: unknown) => systemErrorCode(error), // some file systems have no links
    )
    if (linked === 'EEXIST') return false
    if (linked === 'linked') {
      await unlink(from)
      return true
    }
    const isFree = await lstat(to).then(
      () => false,
      (error: unknown) => systemErrorCode(error) === 'ENOENT',
    )
    if (!isFree) return false
  }
  await rename(from, to)
  return true
}

async function keepOwnerAndMode(handle: FileHandle, stats: Stats): Promise<void> {
  const now = await handle.stat()
  if (now.uid !== stats.uid || now.gid !== stats.gid) await handle.chown(stats.uid, stats.gid).catch(() => undefined) // the group may be one that this user is not in; the content matters more
  await handle.chmod(stats.mode & 0o7777)
}
