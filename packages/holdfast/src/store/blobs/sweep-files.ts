import { mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { AreUsed, BlobSweep, SweepOptions } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import { ifExists } from '../disk.ts'
import { listNames } from '../finding.ts'
import { type BlobPaths, didExist, exists, restoreBlob, temporaryPrefix } from './blob-paths.ts'

type OldBlob = { readonly hash: BlobHash; readonly bytes: number }

const pageHashes = 500
const subdirectoryName = /^[0-9a-f]{2}$/
const hashName = /^[0-9a-f]{64}$/

/** Sweeps all files once. Blobs that earlier sweeps set aside come first: no sweep sets a blob aside and removes it. */
export async function sweepFiles(paths: BlobPaths, areUsed: AreUsed, options: SweepOptions): Promise<BlobSweep> {
  const { now, graceMs, dryRun = false, signal } = options
  const olderThan = now - graceMs
  let [removed, bytes, setAside] = [0, 0, 0]

  async function removeOrRestore(one: OldBlob, used: boolean): Promise<void> {
    const path = paths.aside(one.hash)
    if (await exists(paths.blob(one.hash))) {
      if (!dryRun) await rm(path, { force: true }) // it was put again
      return
    }
    if (used) {
      if (!dryRun) await restoreBlob(paths, one.hash, new Date(now))
      return
    }
    // If another process has restored it meanwhile, there is nothing to remove.
    if (!dryRun && !(await didExist(rm(path)))) return
    removed += 1
    bytes += one.bytes
  }

  async function putAside({ hash }: OldBlob): Promise<void> {
    // It is set aside already, with its own time.
    if (await exists(paths.aside(hash))) return
    if (!dryRun) {
      const [path, at] = [paths.blob(hash), new Date(now)]
      await mkdir(paths.asideDirectory, { recursive: true, mode: 0o700 })
      if (!(await didExist(utimes(path, at, at).then(() => rename(path, paths.aside(hash)))))) return
    }
    setAside += 1
  }

  for await (const some of listOldBlobs(paths.asideDirectory, '', olderThan)) {
    const used = await areUsed(some.map(({ hash }) => hash))
    if (signal?.aborted) break
    for (const one of some) await removeOrRestore(one, used.has(one.hash))
  }
  const names = await listNames(paths.directory)
  for (const subdirectory of names.filter((name) => subdirectoryName.test(name))) {
    if (signal?.aborted) break
    for await (const some of listOldBlobs(join(paths.directory, subdirectory), subdirectory, olderThan)) {
      const used = await areUsed(some.map(({ hash }) => hash))
      if (signal?.aborted) break
      for (const one of some) if (!used.has(one.hash)) await putAside(one)
    }
  }
  if (!dryRun && !signal?.aborted) await removeDrafts(paths.directory, names, olderThan)
  return { removed, bytes, setAside }
}

/** Yields the blobs of a directory that are old enough, in bounded pages. `prefix` is the part of the hash that file names lack. */
async function* listOldBlobs(directory: string, prefix: string, olderThan: number): AsyncIterable<readonly OldBlob[]> {
  const hashes = (await listNames(directory)).map((name) => `${prefix}${name}`).filter((name) => hashName.test(name))
  for (let from = 0; from < hashes.length; from += pageHashes) {
    const some = await Promise.all(
      hashes.slice(from, from + pageHashes).map(async (hash): Promise<OldBlob | null> => {
        const bytes = await bytesIfOld(join(directory, hash.slice(prefix.length)), olderThan)
        return bytes === null ? null : { hash: hash as BlobHash, bytes } // it matches the pattern
      }),
    )
    const old = some.filter((one) => one !== null)
    if (old.length > 0) yield old
  }
}

/** Removes drafts of processes that died. */
async function removeDrafts(directory: string, names: readonly string[], olderThan: number): Promise<void> {
  for (const name of names) {
    const path = join(directory, name)
    if (name.startsWith(temporaryPrefix) && (await bytesIfOld(path, olderThan)) !== null)
      await rm(path, { force: true })
  }
}

async function bytesIfOld(path: string, olderThan: number): Promise<number | null> {
  const found = await ifExists(stat(path))
  return found !== null && found.mtimeMs <= olderThan ? found.size : null
}
