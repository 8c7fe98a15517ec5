import { TextDecoder } from 'node:util'
import { WholeDocument } from './whole-document.ts'

type Bytes = Uint8Array<ArrayBuffer>
type Reader = ReadableStreamDefaultReader<Bytes>

/** More than an error is long, and enough of a page to know it by. */
const documentCharsMax = 64 * 1024
const documentType = /^(text\/html|application\/(json|xml))\b/

/**
 * The answer, if it is the stream that was asked for. The libraries read a document as a stream without events and forget
 * what it said, so one is thrown instead. It is one by its first character: some servers call their streams JSON.
 */
export async function answeredStream(answer: Response): Promise<Response> {
  const { ok, body, headers, status, statusText } = answer
  if (!ok || body === null || !documentType.test(headers.get('content-type') ?? '')) return answer
  const reader = body.getReader()
  const begun = await begin(reader)
  if (!/^[[{<"]/.test(begun.text)) return new Response(resumed(begun.chunks, reader), { status, statusText, headers })
  const whole = begun.text + (await rest(reader, begun))
  await reader.cancel()
  throw new WholeDocument(answer, whole.slice(0, documentCharsMax))
}

type Begun = { readonly chunks: readonly Bytes[]; readonly decoder: TextDecoder; readonly text: string }

/** Reads to the first character that is no blank, or as far as anybody would. */
async function begin(reader: Reader): Promise<Begun> {
  const chunks: Bytes[] = []
  const decoder = new TextDecoder()
  for (let bytes = 0; bytes < documentCharsMax; ) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.byteLength
    chunks.push(value)
    const text = decoder.decode(value, { stream: true }).trimStart()
    if (text !== '') return { chunks, decoder, text }
  }
  return { chunks, decoder, text: '' }
}

async function rest(reader: Reader, { decoder, text }: Begun): Promise<string> {
  let more = ''
  while (text.length + more.length < documentCharsMax) {
    const { done, value } = await reader.read()
    if (done) break
    more += decoder.decode(value, { stream: true })
  }
  return more
}

const resumed = (chunks: readonly Bytes[], reader: Reader) =>
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
