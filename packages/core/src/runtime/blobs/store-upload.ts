import {
  fault,
  limits,
  ok,
  parseUpload,
  type Result,
  refuse,
  type StoredFile,
  type StoreFileOptions,
} from '@holdfast/protocol'
import { admitFile, unfitImage } from '../../context/file-kind.ts'
import type { FittedImage, UnfitImage } from '../../ports/images.ts'
import type { RuntimeDeps } from '../dependencies.ts'
import { piecesOf } from './pieces.ts'

type Deps = Pick<RuntimeDeps, 'blobs' | 'memoryBlobs' | 'images'>
type FileDeps = Pick<RuntimeDeps, 'blobs' | 'images'>

/**
 * Checks a file by its bytes, scales an image down for every provider, and stores it. The returned file part can be
 * used in a prompt as is.
 */
export async function storeUpload(
  { blobs, memoryBlobs, images }: Deps,
  bytes: Uint8Array,
  given: StoreFileOptions = {},
): Promise<Result<StoredFile>> {
  const options = parseUpload(bytes, given)
  if (!options.ok) return options
  const { name, persist = true } = options.value
  if (bytes.length > limits.blobBytesMax) {
    const message = `A file may hold at most ${limits.blobBytesMax} bytes.`
    return refuse(fault('too_large', message, { limit: 'blobBytesMax', bytesMax: limits.blobBytesMax }))
  }
  return storeFile({ blobs: persist ? blobs : memoryBlobs, images }, bytes, name)
}

/** Stores a file that a model shall see, as `storeUpload` does. */
export async function storeFile(
  { blobs, images }: FileDeps,
  bytes: Uint8Array,
  name?: string,
): Promise<Result<StoredFile>> {
  const called = name ?? 'without a name'
  const kind = admitFile(bytes, called)
  if (!kind.ok) return kind
  const { type, mediaType } = kind.value
  const fitted: FittedImage | UnfitImage = type === 'image' ? await images.fit(bytes, mediaType) : { bytes, mediaType }
  if (typeof fitted === 'string') return refuse(unfitImage(called, mediaType, fitted))
  const stored = await blobs.put(piecesOf(fitted.bytes))
  if (!stored.ok) return stored
  return ok({
    file: {
      type: 'file',
      blob: stored.value.hash,
      mediaType: fitted.mediaType,
      ...(name !== undefined && { name }),
      bytes: stored.value.bytes,
    },
    ...(fitted.changed !== undefined && { changed: fitted.changed }),
  })
}
