import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Stats } from '@holdfast/protocol'
import { createJsonlPaths, findLogs } from '../../store/jsonl/files/layout.ts'
import type { DiskLocation } from '../../store/open/store-location.ts'
import { systemErrorCode } from '../../system/system-error.ts'

type Sizes = Omit<Stats['store'], 'records'>
type Size = { readonly count: number; readonly bytes: number }

/** What a store takes on the disk. */
export async function sizesOf(place: DiskLocation): Promise<Sizes> {
  const { count: blobs, bytes: blobBytes } = await sizeIn(place.blobsDir)
  if (place.kind === 'sqlite') {
    const { bytes: recordBytes } = await sizeOf([place.path, `${place.path}-wal`])
    return { recordBytes, indexBytes: 0, blobs, blobBytes }
  }
  const places = createJsonlPaths(place.path)
  const logs = await findLogs(places)
  const [catalogue, snapshots] = [await sizeOf([places.catalogue]), await sizeIn(places.snapshots)]
  const recordBytes = logs.reduce((sum, { bytes }) => sum + bytes, 0)
  return { recordBytes, indexBytes: catalogue.bytes + snapshots.bytes, blobs, blobBytes }
}

async function sizeIn(directory: string): Promise<Size> {
  if (!existsSync(directory)) return { count: 0, bytes: 0 }
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  return sizeOf(entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name)))
}

/** Of those that are there: what was removed meanwhile takes nothing. */
async function sizeOf(paths: readonly string[]): Promise<Size> {
  let [count, bytes] = [0, 0]
  for (const path of paths) {
    try {
      bytes += (await stat(path)).size
      count += 1
    } catch (error) {
      if (systemErrorCode(error) !== 'ENOENT') throw error
    }
  }
  return { count, bytes }
}
