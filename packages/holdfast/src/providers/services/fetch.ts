import { TextDecoder } from 'node:util'
import { limits } from '@holdfast/protocol'

type Bytes = Uint8Array<ArrayBuffer>
type Reader = ReadableStreamDefaultReader<Bytes>

/** The answer is longer than we accept. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError'

  constructor(what: 'event' | 'answer', max: number, unit: 'bytes' | 'characters' | 'parts') {
    super(`one ${what} is longer than ${max} ${unit}`)
  }
}

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

/** Events shorter than this are not searched for, so most answers are never searched. */
const uncheckedBytes = 1024 * 1024
const newline = 10
const carriageReturn = 13

/** Limits how much of an answer is read: cuts a long error, and breaks off a stream with a long event or in total. */
export function limitAnswer(answer: Response): Response {
  const { body, ok, status, statusText, headers } = answer
  if (body === null) return answer
  const check = ok ? createStreamCheck() : createErrorCheck(limits.errorBodyBytesMax)
  return new Response(checkChunks(body, check), { status, statusText, headers })
}

/** Returns the part of a chunk to pass on, and whether it is the last. Throws if there is too much. */
type Check = (chunk: Bytes) => { readonly passed: Bytes; readonly isLast: boolean }

/** Runs once per network chunk, not per event. */
function checkChunks(body: ReadableStream<Bytes>, check: Check): ReadableStream<Bytes> {
  const reader = body.getReader()
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        try {
          const { passed, isLast } = check(value)
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

function createStreamCheck(): Check {
  let allBytes = 0
  let eventBytes = 0
  let isAfterNewline = false
  return (passed) => {
    allBytes += passed.byteLength
    eventBytes += passed.byteLength
    if (eventBytes > uncheckedBytes) eventBytes = Math.min(eventBytes, countBytesAfterEvent(passed, isAfterNewline))
    isAfterNewline = passed.at(-1) === newline
    if (eventBytes > limits.answerEventBytesMax)
      throw new AnswerTooLongError('event', limits.answerEventBytesMax, 'bytes')
    if (allBytes > limits.answerBytesMax) throw new AnswerTooLongError('answer', limits.answerBytesMax, 'bytes')
    return { passed, isLast: false }
  }
}

/** Counts the bytes after the last empty line, which ends an event; Infinity if there is none. */
function countBytesAfterEvent(chunk: Bytes, isAfterNewline: boolean): number {
  for (let at = chunk.lastIndexOf(newline); at >= 0; at = at === 0 ? -1 : chunk.lastIndexOf(newline, at - 1)) {
    const before = chunk[at - 1] === carriageReturn ? at - 2 : at - 1
    if (before < 0 ? isAfterNewline : chunk[before] === newline) return chunk.byteLength - at - 1
  }
  return Number.POSITIVE_INFINITY
}
