import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { nextTurn } from './byte-stream.ts'
import { scanJson } from './scan-json.ts'

export const brokenBody = refuse(fault('bad_request', 'The request body ended early.'))

/** Reads a JSON body. Checks media type, size, structure, encoding and syntax, in that order. */
export async function readJson(request: Request): Promise<Result<unknown>> {
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    return refuse(fault('wrong_media_type', 'Send JSON, with `Content-Type: application/json`.'))
  const bytes = await readBytes(request, limits.requestBodyBytesMax)
  return bytes.ok ? parseJson(bytes.value) : bytes
}

/** A larger body is scanned, parsed and validated in separate turns of the event loop. */
const oneTurnBytesMax = 64 * 1024

/** Parses JSON with a limited number of values. `turn` lets other work come between. */
export async function parseJson(bytes: Uint8Array, turn: () => Promise<void> = nextTurn): Promise<Result<unknown>> {
  const isLarge = bytes.byteLength > oneTurnBytesMax
  const scan = scanJson(bytes)
  let scanned = scan.next()
  for (; !scanned.done; scanned = scan.next()) await turn()
  if (scanned.value) return refuse(scanned.value)
  if (isLarge) await turn()
  const text = decode(bytes)
  if (text === null) return refuse(fault('bad_request', 'The request body is not valid UTF-8.'))
  try {
    const value: unknown = JSON.parse(text)
    if (isLarge) await turn()
    return ok(value)
  } catch {
    return refuse(fault('bad_request', 'The request body is not valid JSON.'))
  }
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Reads a body of at most `bytesMax` bytes. `budget` limits what all bodies hold together; the caller gives the bytes back. */
export async function readBytes(
  request: Request,
  bytesMax: number,
  budget: ByteBudget | null = null,
): Promise<Result<Uint8Array>> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return refuseTooLarge(bytesMax)

  let chunks: Uint8Array[] | null = []
  let bytes = 0
  const drop = () => {
    for (const chunk of chunks ?? []) budget?.give(chunk.byteLength)
    chunks = null
  }
  try {
    // A chunked body names no length, so count while reading.
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) {
        drop()
        return refuseTooLarge(bytesMax)
      }
      if (chunks === null) continue // reads on, so that the client gets its answer
      if (budget === null || budget.take(chunk.byteLength)) chunks.push(chunk)
      else drop()
    }
  } catch {
    drop()
    return brokenBody
  }
  if (chunks !== null) return ok(Buffer.concat(chunks))
  const message = 'The server receives too many files at once. Try again in a few seconds.'
  return refuse(fault('server_busy', message, { retryAfterSeconds: 5 }))
}

/** Counts bytes that requests hold, up to a limit. */
export interface ByteBudget {
  /** Returns false, and takes nothing, if the limit would be exceeded. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export function createByteBudget(bytesMax: number): ByteBudget {
  let taken = 0
  return {
    take(bytes) {
      if (taken + bytes > bytesMax) return false
      taken += bytes
      return true
    },
    give(bytes) {
      taken -= bytes
    },
  }
}

const refuseTooLarge = (bytesMax: number): Result<never> =>
  refuse(fault('too_large', `A request may have at most ${bytesMax} bytes.`, { bytesMax }))
