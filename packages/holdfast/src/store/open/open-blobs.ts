import type { Blobs } from '@holdfast/core/ports'
import { orThrow } from '@holdfast/protocol/result'
import { type BlobReader, createBlobReader, openFileBlobs } from '../blobs/file-blobs.ts'
import type { SavedLocation } from './store-location.ts'

const nothingToClose = { [Symbol.asyncDispose]: () => Promise.resolve() }

/** Opens the blobs of a store to read. Creates nothing and restores nothing. */
export async function openBlobsToRead(location: SavedLocation): Promise<BlobReader & AsyncDisposable> {
  if (location.kind !== 'postgres') return { ...createBlobReader(location.blobsDir), ...nothingToClose }
  const { openPostgresBlobReader } = await import('../postgres/blobs/blob-reader.ts')
  return openPostgresBlobReader(location)
}

/** Opens the blobs of a store to put more, beside the store itself. */
export async function openBlobsToWrite(location: SavedLocation): Promise<Pick<Blobs, 'put'> & AsyncDisposable> {
  if (location.kind !== 'postgres')
    return { put: orThrow(await openFileBlobs(location.blobsDir)).put, ...nothingToClose }
  const { openPostgresStore } = await import('../postgres/postgres-store.ts')
  const { blobs, store } = orThrow(await openPostgresStore(location))
  return { put: blobs.put, [Symbol.asyncDispose]: () => store.close() }
}
