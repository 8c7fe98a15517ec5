import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Blobs } from '@holdfast/core/ports'
import { type BlobHash, HoldfastError, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { syncDirectory } from '../../system/files/sync-directory.ts'
import { storageReason, systemErrorCode } from '../../system/system-error.ts'
import { storageFault } from '../storage-fault.ts'
import { type BlobPlaces, bringBack, createBlobPlaces, draftMark, ifThere, isThere } from './blob-places.ts'
import { blobTooLarge } from './blob-too-large.ts'
import { sweepFiles } from './sweep-files.ts'

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
  const places = createBlobPlaces(directory)
  const inTurn = createSerialQueue()

  const blobs: Blobs = {
    async put(bytes) {
      const draft = join(directory, `${draftMark}${randomUUID()}`)
      try {
        return await attempt(directory, async () => {
          const written = await writeDraft(draft, bytes, bytesMax)
          if (written === null) return null
          await keep(draft, places.kept(written.hash), written.hash)
          return written
        }).then((result) => (result.ok ? orTooLarge(result.value, bytesMax) : result))
      } finally {
        // A disk that became read-only has refused the bytes in words; a sweep takes what is left of them.
        await rm(draft, { force: true }).catch(() => undefined)
      }
    },

    async open(hash) {
      const file = await openWherever(places, hash)
      return file === null ? null : file.createReadStream()
    },

    async has(hash) {
      try {
        return (await isThere(places.kept(hash))) || (await isFoundAside(places, hash))
      } catch {
        return false // what cannot be looked at is put again, and then the disk says why it cannot be
      }
    },

    async sweep(isUsed, options) {
      const swept = await inTurn(() => attempt(directory, () => sweepFiles(places, isUsed, options)))
      if (!swept.ok) throw new HoldfastError(swept.fault)
      return swept.value
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
  // A sweep must see that it was put again, and one that takes it aside just now finds the draft in its place.
  const now = new Date()
  if (!(await isWhole(path, hash)) || !(await ifThere(() => utimes(path, now, now)))) await rename(draft, path)
  // Also when it was there: whoever put it may not have synced the directory yet.
  await syncDirectory(shelf)
}

export async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** Also where a sweep set it aside: what is asked for may be about to be referred to, and is put back. */
async function openWherever(places: BlobPlaces, hash: BlobHash): Promise<FileHandle | null> {
  const kept = await openIfThere(places.kept(hash))
  if (kept !== null || !(await isFoundAside(places, hash))) return kept
  return (await openIfThere(places.kept(hash))) ?? openIfThere(places.aside(hash))
}

/** True when it was there and is back in its place, or in its place again through someone else. */
async function isFoundAside(places: BlobPlaces, hash: BlobHash): Promise<boolean> {
  try {
    if (await bringBack(places, hash, new Date())) return true
  } catch (error) {
    // Where nothing can be written, nothing is swept either.
    if (systemErrorCode(error) === null) throw error
    return isThere(places.aside(hash))
  }
  return isThere(places.kept(hash))
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
    return refuse(storageFault(directory, storageReason(errno), { errno }))
  }
}
