import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { isDeeperThan } from './json-depth.ts'

/** The JSON of a request. Size, encoding, depth and form are settled before anyone looks at what it says. */
export async function readJson(request: Request): Promise<Result<unknown>> {
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? '')) {
    return refuse(fault('wrong_media_type', 'Send JSON, with `Content-Type: application/json`.'))
  }
  const text = await readText(request, limits.requestBodyBytesMax)
  return text.ok ? parseJson(text.value) : text
}

async function readText(request: Request, bytesMax: number): Promise<Result<string>> {
  const bytes = await readBytes(request, bytesMax)
  if (!bytes.ok) return bytes
  try {
    return ok(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.value))
  } catch {
    return refuse(fault('bad_request', 'The body is not valid UTF-8.'))
  }
}

/** The body of a request, whole. */
export async function readBytes(request: Request, bytesMax: number): Promise<Result<Uint8Array>> {
  const tooLarge = refuse(fault('too_large', `A request may hold ${bytesMax} bytes at most.`, { bytesMax }))
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return tooLarge

  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    // A chunked body names no length, so it is counted as it comes.
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) return tooLarge
      chunks.push(chunk)
    }
  } catch {
    return refuse(fault('bad_request', 'The body broke off.'))
  }
  return ok(Buffer.concat(chunks))
}

export function parseJson(text: string): Result<unknown> {
  if (isDeeperThan(text, limits.jsonDepthMax)) {
    return refuse(fault('bad_request', `The body nests deeper than ${limits.jsonDepthMax} levels.`))
  }
  try {
    const value: unknown = JSON.parse(text)
    // Half a surrogate pair cannot be stored as UTF-8: what was acknowledged would not be what is read back.
    return holdsHalfCharacter(text) ? refuse(fault('bad_request', 'The body holds half a character.')) : ok(value)
  } catch {
    return refuse(fault('bad_request', 'The body is not valid JSON.'))
  }
}

function holdsHalfCharacter(text: string): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false // a valid UTF-8 text can hold one only by escape
  let found = false
  JSON.parse(text, (key, value: unknown) => {
    if (!key.isWellFormed() || (typeof value === 'string' && !value.isWellFormed())) found = true
    return value
  })
  return found
}
