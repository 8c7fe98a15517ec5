import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import type { AreUsed, BlobSweep, SweepOptions } from '@holdfast/core/ports'
import type { BlobHash } from '@holdfast/protocol'
import { systemErrorCode } from '../../system/system-error.ts'
import { type BlobPlaces, bringBack, draftMark, ifThere, isThere } from './blob-places.ts'

type Old = { readonly hash: BlobHash; readonly bytes: number }

const hashesAtOnceMax = 500
const shelfName = /^[0-9a-f]{2}$/
const hashName = /^[0-9a-f]{64}$/

/**
 * Goes through the files once. What earlier sweeps set aside comes first, so that nothing is set aside and removed by the
 * same one. A crash leaves each file in one place or the other, and both are looked in.
 */
export async function sweepFiles(places: BlobPlaces, areUsed: AreUsed, options: SweepOptions): Promise<BlobSweep> {
  const { now, graceMs, dryRun = false, signal } = options
  const olderThan = now - graceMs
  let [removed, bytes, setAside] = [0, 0, 0]

  async function removeOrBringBack(one: Old, used: boolean): Promise<void> {
    const path = places.aside(one.hash)
    if (await isThere(places.kept(one.hash))) {
      if (!dryRun) await rm(path, { force: true }) // it was put again, and needs no second file
      return
    }
    if (used) {
      if (!dryRun) await bringBack(places, one.hash, new Date(now))
      return
    }
    // Whoever wanted it meanwhile has put it back: then there is nothing here to remove.
    if (!dryRun && !(await ifThere(() => rm(path)))) return
    removed += 1
    bytes += one.bytes
  }

  async function putAside({ hash }: Old): Promise<void> {
    // One that is there already is of the same bytes, and has its own time to go.
    if (await isThere(places.aside(hash))) return
    if (!dryRun) {
      const [path, at] = [places.kept(hash), new Date(now)]
      await mkdir(places.asideDirectory, { recursive: true, mode: 0o700 })
      if (!(await ifThere(() => utimes(path, at, at).then(() => rename(path, places.aside(hash)))))) return
    }
    setAside += 1
  }

  for await (const some of oldOnes(places.asideDirectory, '', olderThan)) {
    const used = await areUsed(some.map(({ hash }) => hash))
    if (signal?.aborted) break
    for (const one of some) await removeOrBringBack(one, used.has(one.hash))
  }
  const names = await namesIn(places.directory)
  for (const shelf of names.filter((name) => shelfName.test(name))) {
    if (signal?.aborted) break
    for await (const some of oldOnes(join(places.directory, shelf), shelf, olderThan)) {
      const used = await areUsed(some.map(({ hash }) => hash))
      if (signal?.aborted) break
      for (const one of some) if (!used.has(one.hash)) await putAside(one)
    }
  }
  if (!dryRun && !signal?.aborted) await removeDrafts(places.directory, names, olderThan)
  return { removed, bytes, setAside }
}

/** The blobs of a directory that are old enough, a bounded list at a time; their names lack `prefix`. */
async function* oldOnes(directory: string, prefix: string, olderThan: number): AsyncIterable<readonly Old[]> {
  const hashes = (await namesIn(directory)).map((name) => `${prefix}${name}`).filter((name) => hashName.test(name))
  for (let from = 0; from < hashes.length; from += hashesAtOnceMax) {
    const some = await Promise.all(
      hashes.slice(from, from + hashesAtOnceMax).map(async (hash): Promise<Old | null> => {
        const bytes = await bytesIfOld(join(directory, hash.slice(prefix.length)), olderThan)
        return bytes === null ? null : { hash: hash as BlobHash, bytes } // it has the form of one
      }),
    )
    const old = some.filter((one) => one !== null)
    if (old.length > 0) yield old
  }
}

/** What puts that died left half-written. */
async function removeDrafts(directory: string, names: readonly string[], olderThan: number): Promise<void> {
  for (const name of names) {
    const path = join(directory, name)
    if (name.startsWith(draftMark) && (await bytesIfOld(path, olderThan)) !== null) await rm(path, { force: true })
  }
}

async function bytesIfOld(path: string, olderThan: number): Promise<number | null> {
  let bytes: number | null = null
  await ifThere(async () => {
    const { mtimeMs, size } = await stat(path)
    if (mtimeMs <= olderThan) bytes = size
  })
  return bytes
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return []
    throw error
  }
}
