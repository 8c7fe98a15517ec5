import { ownSlice } from '@holdfast/core/ports'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { type Pace, readPaced } from './paced-body.ts'
import { scanJson } from './scan-json.ts'

/** Reads a JSON body. Checks media type, size, structure, encoding and syntax, in that order. The caller releases `held`. */
export async function readJson(request: Request, held: HeldBytes, pace?: Pace): Promise<Result<unknown>> {
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    return refuse(fault('wrong_media_type', 'Send JSON, with `Content-Type: application/json`.'))
  const bytes = await readBytes(request, limits.requestBodyBytesMax, held, pace)
  return bytes.ok ? parseJson(bytes.value) : bytes
}

/** A larger body is scanned, parsed and validated in separate slices. */
const oneSliceBytesMax = 64 * 1024

/** Bytes of a JSON body that no budget counts, so that small commands pass while clients send large ones. */
export const freeBodyBytes = 64 * 1024

/** Parses JSON with a limited number of values. `slice` lets other work come between. */
export async function parseJson(bytes: Uint8Array, slice: () => Promise<void> = ownSlice): Promise<Result<unknown>> {
  const isLarge = bytes.byteLength > oneSliceBytesMax
  const scan = scanJson(bytes)
  let scanned = scan.next()
  for (; !scanned.done; scanned = scan.next()) await slice()
  if (scanned.value) return refuse(scanned.value)
  if (isLarge) await slice()
  const text = decode(bytes)
  if (text === null) return refuse(fault('bad_request', 'The request body is not valid UTF-8.'))
  try {
    const value: unknown = JSON.parse(text)
    if (isLarge) await slice()
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

/** A refused body is read by so many bytes at a slice. */
const droppedPerSlice = 256 * 1024

/** Reads a body of at most `bytesMax` bytes. `held` limits what all bodies hold together; the caller releases it. */
export async function readBytes(
  request: Request,
  bytesMax: number,
  held: HeldBytes,
  pace?: Pace,
): Promise<Result<Uint8Array>> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > bytesMax) return refuseTooLarge(bytesMax)

  let chunks: Uint8Array[] | null = held.take(declared) ? [] : null
  let bytes = 0
  const drop = () => {
    chunks = null
    held.release()
  }
  // A chunked body names no length, so count while reading.
  for await (const chunk of readPaced(request, pace)) {
    if (!chunk.ok) {
      drop()
      return chunk
    }
    bytes += chunk.value.byteLength
    if (bytes > bytesMax) {
      drop()
      return refuseTooLarge(bytesMax)
    }
    if (chunks === null) {
      // Reads on, so that the client gets its answer, and lets other work come between.
      if (bytes % droppedPerSlice < chunk.value.byteLength) await ownSlice()
    } else if (declared > 0 || held.take(chunk.value.byteLength)) chunks.push(chunk.value)
    else drop()
  }
  return chunks === null ? busy : ok(Buffer.concat(chunks))
}

const busyMessage = 'The server receives too many bytes at once. Try again in a few seconds.'
const busy = refuse(fault('server_busy', busyMessage, { retryAfterSeconds: 5 }))

/** Limits the bytes that all requests hold together. */
export interface ByteBudget {
  /** Begins to count the bytes of a request. Its first `freeBytes` are not counted. */
  hold(freeBytes?: number): HeldBytes
}

/** The bytes that one request holds. */
export interface HeldBytes {
  /** Returns false, and takes nothing, if the limit would be exceeded. */
  take(bytes: number): boolean
  release(): void
}

export function createByteBudget(bytesMax: number): ByteBudget {
  let taken = 0
  return {
    hold(freeBytes = 0) {
      let [free, held] = [freeBytes, 0]
      return {
        take(bytes) {
          const counted = Math.max(0, bytes - free)
          if (taken + counted > bytesMax) return false
          free = Math.max(0, free - bytes)
          taken += counted
          held += counted
          return true
        },
        release() {
          taken -= held
          held = 0
        },
      }
    },
  }
}

const refuseTooLarge = (bytesMax: number): Result<never> =>
  refuse(fault('too_large', `A request may have at most ${bytesMax} bytes.`, { bytesMax }))
