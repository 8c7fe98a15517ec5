import { constants as bufferConstants } from 'node:buffer'
import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { BlobHash, escapeLine, type Fault, fault, limits, ok, type Result } from '@holdfast/protocol'
import { openFile } from '../../../system/files/open-file.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { hashBytes } from './before-image.ts'

/** Files to diff or edit are held in memory several times. */
const editedBytesMax = Math.min(limits.editedFileBytesMax, bufferConstants.MAX_STRING_LENGTH)

export type FileContent = {
  /** Identifies the content at this path. */
  readonly contentHash: BlobHash
  /** Null if the file is too long. */
  readonly bytes: Buffer | null
  /** The hash of the bytes: a large file takes milliseconds each time. */
  readonly hash: BlobHash | null
  readonly size: number
}

/** Reads an existing file of the workdir. `shown` is its resolved path. */
export async function readContent(workdir: string, path: string, shown: string): Promise<Result<FileContent>> {
  const opened = await openFile(workdir, path)
  if (!opened.ok) return opened
  await using handle = opened.value.handle
  const bytes = await readSmall(handle, opened.value.stats)
  const hash = bytes && hashBytes(bytes)
  const contentHash = hash ? identify(shown, hash) : await hashHandle(handle, shown, null)
  return ok({ contentHash, bytes, hash, size: opened.value.stats.size })
}

export const tooLongToEdit = (path: string, size: number): Fault =>
  fault('too_large', `${escapeLine(path)} has ${size} bytes; up to ${editedBytesMax} can be diffed or edited`)

/** Identifies content at a path: its bytes, or null if there is no file. Another file with the same bytes has another hash. */
export const hashContent = (shown: string, bytes: Uint8Array | null): BlobHash =>
  identify(shown, bytes === null ? null : hashBytes(bytes))

/** The same for bytes with a known hash. */
export const identify = (shown: string, hash: BlobHash | null): BlobHash => hashParts(shown, hash ?? 'none')

/** Identifies a link at a path. */
export const hashLink = (shown: string, target: string): BlobHash => hashParts(shown, 'link', target)

const hashParts = (...parts: readonly string[]): BlobHash =>
  BlobHash.parse(createHash('sha256').update(JSON.stringify(parts)).digest('hex'))

/** Identifies what is at an absolute path now; null if it is not a regular file. Links are not followed. */
export async function hashAt(absolute: string, shown: string): Promise<BlobHash | null> {
  const opened = await openUnfollowed(absolute)
  if (opened === 'ENOENT') return hashContent(shown, null)
  if (typeof opened === 'string') return null // a link, or no longer readable
  await using handle = opened
  if (!(await handle.stat()).isFile()) return null
  return await hashHandle(handle, shown, await readSmall(handle)) // awaited here: the handle closes on the way out
}

/** Compared at once. A buffer for the whole of a large file would make V8 collect garbage. */
const comparedBytes = 1024 * 1024

/** Returns whether a regular file with these bytes is at an absolute path. To compare takes a fraction of a hash. */
export async function isContentAt(absolute: string, bytes: Uint8Array): Promise<boolean> {
  const opened = await openUnfollowed(absolute)
  if (typeof opened === 'string') return false
  await using handle = opened
  const stats = await handle.stat()
  if (!stats.isFile() || stats.size !== bytes.length) return false
  const part = Buffer.allocUnsafe(Math.min(comparedBytes, bytes.length + 1))
  for (let at = 0; ; ) {
    const { bytesRead } = await handle.read(part, 0, part.length, at)
    if (bytesRead === 0) return at === bytes.length
    if (!part.subarray(0, bytesRead).equals(bytes.subarray(at, at + bytesRead))) return false
    at += bytesRead
  }
}

function openUnfollowed(absolute: string): Promise<FileHandle | string> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
  return open(absolute, flags).catch((error: unknown) => systemErrorCode(error) ?? 'unknown')
}

/**
 * Hashes the bytes of a file. A file that is too long to edit is identified by its size and its times. Any program can put
 * `mtime` back; `ctime` is set by the system with each change, also of the mode or of another link.
 */
export async function hashHandle(handle: FileHandle, shown: string, bytes: Buffer | null): Promise<BlobHash> {
  if (bytes !== null) return hashContent(shown, bytes)
  const { ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true })
  return hashParts(shown, `${ino} ${size} ${mtimeNs} ${ctimeNs}`)
}

/** Reads a whole file; null if it is too long to be edited. `stats` are those of the handle, if they are known. */
export async function readSmall(handle: FileHandle, stats?: Pick<Stats, 'size'>): Promise<Buffer | null> {
  const { size } = stats ?? (await handle.stat())
  if (size > editedBytesMax) return null
  // One read for what the file has, and one byte more, which says whether that was all.
  const start = Buffer.allocUnsafeSlow(size + 1)
  const { bytesRead } = await handle.read(start, 0, start.length, null)
  const read = start.subarray(0, bytesRead)
  if (bytesRead === size) return read
  // It grew or shrank, has no size, like a file of /proc, or the system returned less than there is.
  const bytes = Buffer.concat([read, await handle.readFile()])
  return bytes.length > editedBytesMax ? null : bytes
}
