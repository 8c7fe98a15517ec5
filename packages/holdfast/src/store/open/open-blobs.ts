import type { Blobs, OnProblem } from '@holdfast/core/ports'
import { ok, orThrow, type Result, refuse } from '@holdfast/protocol/result'
import { blobsOf, type Environment } from '../../system/home.ts'
import { type BlobReader, createBlobReader, openFileBlobs } from '../blobs/file-blobs.ts'
import type { PostgresLocation } from '../postgres/connect/postgres-url.ts'
import type { PostgresStore } from '../postgres/postgres-store.ts'
import { isOnDisk, type SavedLocation } from './store-location.ts'

const nothingToClose = { [Symbol.asyncDispose]: () => Promise.resolve() }

/** Opens the blobs of a store to read. Creates nothing and restores nothing. */
export async function openBlobsToRead(
  location: SavedLocation,
  environment?: Environment,
): Promise<BlobReader & AsyncDisposable> {
  if (isOnDisk(location)) return { ...createBlobReader(location.blobsDir), ...nothingToClose }
  const { openPostgresBlobReader } = await import('../postgres/blobs/blob-reader.ts')
  return openPostgresBlobReader(location, environment)
}

/** Opens the blobs of a store to put more, beside the store itself. */
export async function openBlobsToWrite(
  location: SavedLocation,
  environment?: Environment,
): Promise<Pick<Blobs, 'put'> & AsyncDisposable> {
  if (isOnDisk(location)) return { put: orThrow(await openFileBlobs(location.blobsDir)).put, ...nothingToClose }
  const { blobs, store } = orThrow(await openDatabaseStore(location, { environment }))
  return { put: blobs.put, [Symbol.asyncDispose]: () => store.close() }
}

/** Opens a store in a database. New files go to `blobs`, by default to the place that the environment names; it must have the keys. */
export async function openDatabaseStore(
  location: PostgresLocation,
  {
    environment = {},
    blobs = blobsOf(environment),
    onProblem,
  }: {
    readonly environment?: Environment | undefined
    readonly blobs?: string | undefined
    readonly onProblem?: OnProblem | undefined
  },
): Promise<Result<PostgresStore>> {
  // Imported on demand: other stores start without its driver.
  const { openPostgresStore, parseS3Url, createS3Objects, findNoKeys } = await import('../postgres/postgres-store.ts')
  const place = blobs === undefined ? ok(undefined) : parseS3Url(blobs)
  if (!place.ok) return place
  const noKeys = place.value && findNoKeys(environment, place.value)
  if (noKeys) return refuse(noKeys)
  return openPostgresStore(location, {
    onProblem,
    blobs: { place: place.value, objects: createS3Objects(environment) },
  })
}
