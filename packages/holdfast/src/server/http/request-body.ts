import type { FileHandle } from 'node:fs/promises'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { storageReason, systemErrorCode } from '../../system/system-error.ts'

const brokenBody = refuse(fault('bad_request', 'The request body ended early.'))

/** Reads a JSON body. Checks media type, size, encoding, depth and syntax, in that order. */
export async function readJson(request: Request): Promise<Result<unknown>> {
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    return refuse(fault('wrong_media_type', 'Send JSON, with `Content-Type: application/json`.'))
  const bytes = await readBytes(request, limits.requestBodyBytesMax)
  if (!bytes.ok) return bytes
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.value))
  } catch {
    return refuse(fault('bad_request', 'The request body is not valid UTF-8.'))
  }
}

/** Reads a whole body into memory. */
export async function readBytes(request: Request, bytesMax: number): Promise<Result<Uint8Array>> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return refuseTooLarge(bytesMax)

  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    // A chunked body names no length, so count while reading.
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) return refuseTooLarge(bytesMax)
      chunks.push(chunk)
    }
  } catch {
    return brokenBody
  }
  return ok(Buffer.concat(chunks))
}

const refuseTooLarge = (bytesMax: number): Result<never> =>
  refuse(fault('too_large', `A request may have at most ${bytesMax} bytes.`, { bytesMax }))

/** Parses JSON of limited depth. Rejects unpaired surrogates: they cannot be stored as UTF-8. */
export function parseJson(text: string): Result<unknown> {
  if (isDeeperThan(text, limits.jsonDepthMax))
    return refuse(fault('bad_request', `The request body is nested deeper than ${limits.jsonDepthMax} levels.`))
  try {
    // Valid UTF-8 can hold an unpaired surrogate only as an escape.
    if (!/\\u[dD][89a-fA-F]/.test(text)) return ok(JSON.parse(text))
    let isWellFormed = true
    const value: unknown = JSON.parse(text, (key, inner: unknown) => {
      isWellFormed &&= key.isWellFormed() && (typeof inner !== 'string' || inner.isWellFormed())
      return inner
    })
    return isWellFormed ? ok(value) : refuse(fault('bad_request', 'The request body has an unpaired surrogate.'))
  } catch {
    return refuse(fault('bad_request', 'The request body is not valid JSON.'))
  }
}

/** Returns whether a JSON text nests deeper than `max`. The parser takes any depth, but `JSON.stringify` does not. */
export function isDeeperThan(text: string, max: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (isInString) {
      if (char === '\\') at++
      else if (char === '"') isInString = false
    } else if (char === '"') isInString = true
    else if (char === '[' || char === '{') {
      depth++
      if (depth > max) return true
    } else if (char === ']' || char === '}') depth--
  }
  return false
}

const importBytesMax = limits.importBytesMax
const importTooLarge = refuse(
  fault(
    'too_large',
    `An upload may have at most ${importBytesMax} bytes. Import a larger file with \`holdfast import\`.`,
    {
      limit: 'importBytesMax',
      bytesMax: importBytesMax,
    },
  ),
)

/** Streams a body to a file, so that it is never whole in memory. */
export async function spoolBody(request: Request, file: Pick<FileHandle, 'writeFile'>): Promise<Result<null>> {
  if (Number(request.headers.get('content-length') ?? 0) > importBytesMax) return importTooLarge
  let bytes = 0
  for await (const chunk of readChunks(request)) {
    if (!chunk.ok) return chunk
    bytes += chunk.value.byteLength
    if (bytes > importBytesMax) return importTooLarge
    const written = await catchDiskErrors(() => file.writeFile(chunk.value))
    if (!written.ok) return written
  }
  return ok(null)
}

async function* readChunks({ body }: Request): AsyncGenerator<Result<Uint8Array>> {
  try {
    for await (const chunk of body ?? []) yield ok(chunk)
  } catch {
    yield brokenBody
  }
}

/** Returns a disk error as a fault. It names no path: clients must not learn the server's folders. */
export async function catchDiskErrors<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    const errno = systemErrorCode(error)
    if (errno === null) throw error
    const message = `Cannot store the upload: the disk reported ${errno}.`
    return refuse(fault('storage_error', message, { reason: storageReason(errno), errno }))
  }
}
