import { setImmediate } from 'node:timers/promises'
import { TextDecoder } from 'node:util'
import { limits } from '@holdfast/protocol'
import { createStreamCheck } from './stream-check.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Reader = ReadableStreamDefaultReader<Bytes>

/** The answer is a document instead of a stream: an error of the service, or of another server. */
export class NotAStreamError extends Error {
  override readonly name = 'NotAStreamError'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  /** The beginning of the document, enough for a whole error. */
  readonly body: string

  constructor({ url, headers }: Response, body: string) {
    super(`the answer is a document (${headers.get('content-type')}), not a stream`)
    this.url = url
    this.headers = Object.fromEntries(headers)
    this.body = body
  }
}

/** Fetches without following redirects, as they would send the key to another server. Limits and checks the answer. */
export const fetchFromService: typeof fetch = async (input, init) =>
  limitAnswer(await requireStream(await fetch(input, { ...init, redirect: 'manual' })))

/** Reads a whole body as text; null if it is longer than `bytesMax`. */
export async function readBody(answer: Response, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Longer than any error, and enough of a page to recognize it. */
const documentCharsMax = 64 * 1024
const documentType = /^(text\/html|application\/(json|xml))\b/

/**
 * Returns the answer if it is a stream; throws `NotAStreamError` for a document, as the libraries would read it as a
 * stream without events. Decides by the first character: some servers send their streams as JSON.
 */
export async function requireStream(answer: Response): Promise<Response> {
  const { ok, body, headers, status, statusText } = answer
  if (!ok || body === null || !documentType.test(headers.get('content-type') ?? '')) return answer
  const reader = body.getReader()
  const chunks: Bytes[] = []
  const decoder = new TextDecoder()
  let text = ''
  for (let bytes = 0; bytes < documentCharsMax && text === ''; ) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.byteLength
    chunks.push(value)
    text = decoder.decode(value, { stream: true }).trimStart()
  }
  if (!/^[[{<"]/.test(text)) return new Response(resumeStream(chunks, reader), { status, statusText, headers })
  while (text.length < documentCharsMax) {
    const { done, value } = await reader.read()
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  await reader.cancel()
  throw new NotAStreamError(answer, text.slice(0, documentCharsMax))
}

const resumeStream = (chunks: readonly Bytes[], reader: Reader) =>
  new ReadableStream<Bytes>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })

/** Limits how much of an answer is read: cuts a long error, and breaks off a stream with a long event or in total. */
export function limitAnswer(answer: Response): Response {
  const { body, ok, status, statusText, headers } = answer
  if (body === null) return answer
  const check = ok ? checkStream() : createErrorCheck(limits.errorBodyBytesMax)
  return new Response(checkChunks(body, check), { status, statusText, headers })
}

/** Returns the part of a chunk to pass on, and whether it is the last. Throws if there is too much. */
type Check = (chunk: Bytes) => { readonly passed: Bytes; readonly isLast: boolean }

/** The libraries parse all events of a piece at once: some hundred short ones. */
const pieceBytesMax = 16 * 1024

/** Passes an answer on in small pieces. Each is passed on in a slice of its own, however much has arrived. */
function checkChunks(body: ReadableStream<Bytes>, check: Check): ReadableStream<Bytes> {
  const reader = body.getReader()
  let rest: Bytes = new Uint8Array(0)
  let bytesThisSlice = 0
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        if (rest.byteLength === 0) {
          const { done, value } = await reader.read()
          if (done) return controller.close()
          rest = value
        }
        if (bytesThisSlice >= pieceBytesMax) {
          await setImmediate()
          bytesThisSlice = 0
        }
        const piece = rest.subarray(0, pieceBytesMax)
        rest = rest.subarray(pieceBytesMax)
        bytesThisSlice += piece.byteLength
        try {
          const { passed, isLast } = check(piece)
          controller.enqueue(passed)
          if (!isLast) return
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        await reader.cancel()
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

function createErrorCheck(bytesMax: number): Check {
  let bytesLeft = bytesMax
  return (chunk) => {
    const passed = chunk.subarray(0, bytesLeft)
    bytesLeft -= passed.byteLength
    return { passed, isLast: bytesLeft === 0 }
  }
}

function checkStream(): Check {
  const check = createStreamCheck()
  return (passed) => {
    check(passed)
    return { passed, isLast: false }
  }
}
