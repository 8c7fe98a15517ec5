import { createHash, type Hash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Blobs, ownSlice } from '@holdfast/core/ports'
import { type BlobHash, HoldfastError, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'
import { storageReason, systemErrorCode } from '../../system/system-error.ts'
import { ifExists } from '../disk.ts'
import { storageFault } from '../storage-fault.ts'
import { blobTooLarge } from '../store-faults.ts'
import { type BlobPaths, createBlobPaths, didExist, exists, restoreBlob, temporaryPrefix } from './blob-paths.ts'
import { sweepFiles } from './sweep-files.ts'

type Written = { readonly hash: BlobHash; readonly bytes: number }

/** Stores blobs as files named by their hash, `ab/cdef…`. A file with such a name is complete. */
export async function openFileBlobs(
  directory: string,
  { bytesMax = limits.toolOutputBytesMax }: { readonly bytesMax?: number } = {},
): Promise<Result<Blobs>> {
  const prepared = await attempt(directory, async () => ensurePrivateDirectory(directory))
  if (!prepared.ok) return prepared
  const paths = createBlobPaths(directory)
  const oneByOne = createSerialQueue()

  const blobs: Blobs = {
    async put(bytes) {
      const draft = join(directory, `${temporaryPrefix}${randomUUID()}`)
      try {
        return await attempt(directory, async () => {
          const written = await writeDraft(draft, bytes, bytesMax)
          if (written === null) return refuse(blobTooLarge(bytesMax))
          await publishDraft(draft, paths.blob(written.hash), written.hash)
          return ok(written)
        }).then((result) => (result.ok ? result.value : result))
      } finally {
        // If the disk became read-only, a later sweep removes the draft.
        await rm(draft, { force: true }).catch(() => undefined)
      }
    },

    async open(hash) {
      const file = await openOrRestore(paths, hash)
      return file === null ? null : file.createReadStream()
    },

    async has(hash) {
      try {
        return (await exists(paths.blob(hash))) || (await findAside(paths, hash))
      } catch {
        return false // the caller then puts the blob again, and the disk reports the error
      }
    },

    async sweep(isUsed, options) {
      const swept = await oneByOne(() => attempt(directory, () => sweepFiles(paths, isUsed, options)))
      if (!swept.ok) throw new HoldfastError(swept.fault)
      return swept.value
    },
  }
  return ok(blobs)
}

/** Streams the bytes into a synced file and hashes them. Returns null as soon as there are too many. */
async function writeDraft(path: string, bytes: Parameters<Blobs['put']>[0], bytesMax: number): Promise<Written | null> {
  await using file = await open(path, 'wx', 0o600)
  await file.chmod(0o600)
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.byteLength
    if (size > bytesMax) return null
    const writing = writeAll(file, chunk)
    writing.catch(() => undefined) // awaited below
    await updateInSlices(hash, chunk) // meanwhile: the write is on another thread
    await writing
  }
  await file.sync()
  return { hash: hash.digest('hex') as BlobHash, bytes: size } // a SHA-256 in hex
}

/** So much is hashed in one slice: about a millisecond. */
const hashedBytes = 1024 * 1024

async function updateInSlices(hash: Hash, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; at += hashedBytes) {
    if (at > 0) await ownSlice()
    hash.update(bytes.subarray(at, at + hashedBytes))
  }
}

/** Writes in as few steps as possible: `writeFile` of Node takes one for each 512 KB. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.byteLength - at, null)
    at += bytesWritten
  }
}

/** Renames the draft to its blob. An existing blob stays, unless it is damaged. */
async function publishDraft(draft: string, path: string, hash: BlobHash): Promise<void> {
  const shelf = dirname(path)
  const isNew = (await mkdir(shelf, { recursive: true, mode: 0o700 })) !== undefined
  // The new time shows a sweep that the blob was put again; if a sweep has just set it aside, the draft takes its place.
  const now = new Date()
  if (!(await isWhole(path, hash)) || !(await didExist(utimes(path, now, now)))) await rename(draft, path)
  // Even if it existed: the process that put it may not have synced the directory yet. Both together share a commit of the disk.
  await Promise.all([syncDirectory(shelf), ...(isNew ? [syncDirectory(dirname(shelf))] : [])])
}

export const openIfExists = (path: string): Promise<FileHandle | null> => ifExists(open(path, 'r'))

/** Opens a blob. One that a sweep has set aside is restored, because a record may refer to it soon. */
async function openOrRestore(paths: BlobPaths, hash: BlobHash): Promise<FileHandle | null> {
  const file = await openIfExists(paths.blob(hash))
  if (file !== null || !(await findAside(paths, hash))) return file
  return (await openIfExists(paths.blob(hash))) ?? openIfExists(paths.aside(hash))
}

/** Returns whether the blob was set aside and is restored, by this process or another. */
async function findAside(paths: BlobPaths, hash: BlobHash): Promise<boolean> {
  try {
    if (await restoreBlob(paths, hash, new Date())) return true
  } catch (error) {
    // A sweep cannot write here either.
    if (systemErrorCode(error) === null) throw error
    return exists(paths.aside(hash))
  }
  return exists(paths.blob(hash))
}

/** The blobs of a directory, opened to read. Creates nothing and restores nothing. */
export interface BlobReader extends Pick<Blobs, 'open'> {
  /** Returns whether the bytes match the hash. */
  isWhole(hash: BlobHash): Promise<boolean>
}

export function createBlobReader(directory: string): BlobReader {
  const paths = createBlobPaths(directory)
  return {
    open: async (hash) =>
      ((await openIfExists(paths.blob(hash))) ?? (await openIfExists(paths.aside(hash))))?.createReadStream() ?? null,
    isWhole: async (hash) => isWhole((await exists(paths.blob(hash))) ? paths.blob(hash) : paths.aside(hash), hash),
  }
}

async function isWhole(path: string, hash: BlobHash): Promise<boolean> {
  const file = await openIfExists(path)
  if (file === null) return false
  const digest = createHash('sha256')
  for await (const chunk of file.createReadStream()) digest.update(chunk)
  return digest.digest('hex') === hash
}

/** Converts a disk error to a fault. An error of the byte stream passes through. */
async function attempt<Value>(directory: string, work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    const errno = systemErrorCode(error)
    if (errno === null) throw error
    return refuse(storageFault(directory, storageReason(errno), { errno }))
  }
}
