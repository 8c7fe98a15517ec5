import type { FileHandle } from 'node:fs/promises'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { storageReason, systemErrorCode } from '../../system/system-error.ts'

const tooLarge = refuse(
  fault(
    'too_large',
    `A file that is sent may hold ${limits.importBytesMax} bytes at most; import a larger one with \`holdfast import\`.`,
    { limit: 'importBytesMax', bytesMax: limits.importBytesMax },
  ),
)

/** Streams the body of a request to a file: it is never whole in memory. */
export async function spoolBody(request: Request, file: Pick<FileHandle, 'writeFile'>): Promise<Result<null>> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.importBytesMax) return tooLarge
  let bytes = 0
  for await (const chunk of chunksOf(request)) {
    if (!chunk.ok) return chunk
    bytes += chunk.value.byteLength
    if (bytes > limits.importBytesMax) return tooLarge
    const written = await onDisk(() => file.writeFile(chunk.value))
    if (!written.ok) return written // the client is not to blame
  }
  return ok(null)
}

async function* chunksOf({ body }: Request): AsyncGenerator<Result<Uint8Array>> {
  try {
    for await (const chunk of body ?? []) yield ok(chunk)
  } catch {
    yield refuse(fault('bad_request', 'The body broke off.'))
  }
}

/** What the disk refuses, as a fault. It names no path: where a server keeps what it was sent is its own affair. */
export async function onDisk<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    const errno = systemErrorCode(error)
    if (errno === null) throw error
    const message = `What was sent cannot be kept while it is imported: the disk said ${errno}.`
    return refuse(fault('storage_error', message, { reason: storageReason(errno), errno }))
  }
}
