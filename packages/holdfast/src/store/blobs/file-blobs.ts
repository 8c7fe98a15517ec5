import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Blobs } from '@holdfast/core/ports'
import { type BlobHash, type Fault, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { ensurePrivateDirectory } from '../../files/private-directory.ts'
import { syncDirectory } from '../../files/sync-directory.ts'
import { storageReason, systemErrorCode } from '../../platform/system-error.ts'
import { blobTooLarge } from './blob-too-large.ts'

export type FileBlobsOptions = { readonly bytesMax?: number }

type Written = { readonly hash: BlobHash; readonly bytes: number }

/**
 * Blobs as files named by their hash, `ab/cdef…`, below a private directory. Bytes are written under another name,
 * synced and only then renamed: a file that has a blob's name is whole.
 */
export async function openFileBlobs(
  directory: string,
  { bytesMax = limits.blobBytesMax }: FileBlobsOptions = {},
): Promise<Result<Blobs>> {
  const prepared = await attempt(directory, async () => ensurePrivateDirectory(directory))
  if (!prepared.ok) return prepared
  const pathOf = (hash: string): string => join(directory, hash.slice(0, 2), hash.slice(2))

  const blobs: Blobs = {
    async put(bytes) {
      const draft = join(directory, `new-${randomUUID()}`)
      try {
        return await attempt(directory, async () => {
          const written = await writeDraft(draft, bytes, bytesMax)
          if (written === null) return null
          await keep(draft, pathOf(written.hash), written.hash)
          return written
        }).then((result) => (result.ok ? orTooLarge(result.value, bytesMax) : result))
      } finally {
        await rm(draft, { force: true })
      }
    },

    async open(hash) {
      const file = await openIfThere(pathOf(hash))
      return file === null ? null : file.createReadStream()
    },

    async has(hash) {
      return isThere(pathOf(hash))
    },
  }
  return ok(blobs)
}

const orTooLarge = (written: Written | null, bytesMax: number): Result<Written> =>
  written === null ? refuse(blobTooLarge(bytesMax)) : ok(written)

/** Streams the bytes into a synced file and hashes them on the way; null as soon as they are too many. */
async function writeDraft(
  path: string,
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  bytesMax: number,
): Promise<Written | null> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.chmod(0o600)
    const hash = createHash('sha256')
    let size = 0
    for await (const chunk of bytes) {
      size += chunk.byteLength
      if (size > bytesMax) return null
      hash.update(chunk)
      await file.writeFile(chunk)
    }
    await file.sync()
    return { hash: hash.digest('hex') as BlobHash, bytes: size } // a SHA-256 in hex is what the brand means
  } finally {
    await file.close()
  }
}

/** Gives the draft its name for good. A blob that is already there stays as it is, unless it was damaged. */
async function keep(draft: string, path: string, hash: BlobHash): Promise<void> {
  const shelf = dirname(path)
  const isNew = (await mkdir(shelf, { recursive: true, mode: 0o700 })) !== undefined
  if (isNew) await syncDirectory(dirname(shelf))
  if (!(await isWhole(path, hash))) await rename(draft, path)
  // Also when it was there: whoever put it may not have synced the directory yet.
  await syncDirectory(shelf)
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}

async function isWhole(path: string, hash: BlobHash): Promise<boolean> {
  const file = await openIfThere(path)
  if (file === null) return false
  const digest = createHash('sha256')
  for await (const chunk of file.createReadStream()) digest.update(chunk)
  return digest.digest('hex') === hash
}

/** What the disk refuses is a fault; what the stream of bytes throws is its owner's, and passes through. */
async function attempt<Value>(directory: string, work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    const errno = systemErrorCode(error)
    if (errno === null) throw error
    return refuse(storageError(directory, errno))
  }
}

function storageError(path: string, errno: string): Fault {
  const reason = storageReason(errno)
  return fault('storage_error', `Files cannot be kept in ${path}: ${errno}.`, { reason, errno, path })
}
