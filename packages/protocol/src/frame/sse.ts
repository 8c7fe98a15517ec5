import type { z } from 'zod'
import { explainIssue } from '../text/explain.ts'
import { Frame } from './frame.ts'
import { NewsFrame } from './news.ts'

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame | NewsFrame, Uint8Array>()

/** One frame as one server-sent event. Encoded once, however many subscribers the same frame goes to. */
export const encodeFrame = (frame: Frame): Uint8Array =>
  encodeOnce(frame, frame.type === 'record' ? `id: ${frame.record.seq}\n` : '')

/** News have no cursor, and so no id. */
export const encodeNews = (news: NewsFrame): Uint8Array => encodeOnce(news, '')

function encodeOnce(frame: Frame | NewsFrame, id: string): Uint8Array {
  const known = encoded.get(frame)
  if (known) return known
  const bytes = encoder.encode(`${id}event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)
  encoded.set(frame, bytes)
  return bytes
}

/** A frame of a kind we know, in a form we do not: passing it over would be a gap nobody sees. */
export class UnreadableFrame extends Error {
  override readonly name = 'UnreadableFrame'
}

type Frames<One> = (body: ReadableStream<Uint8Array>) => AsyncGenerator<One>

/** The frames of a session's event stream. Comments (heartbeats) and kinds of a later day are passed over. */
export const decodeFrames: Frames<Frame> = createDecode(Frame, kindsOf(Frame.options))

/** The same for the news of all sessions. */
export const decodeNews: Frames<NewsFrame> = createDecode(NewsFrame, kindsOf(NewsFrame.options))

function createDecode<One>(schema: z.ZodType<One>, kinds: ReadonlySet<unknown>): Frames<One> {
  return async function* decode(body) {
    for await (const data of readEvents(body)) {
      const frame = readFrame(schema, kinds, data)
      if (frame !== null) yield frame
    }
  }
}

async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const data = block
          .split('\n')
          .flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
          .join('\n')
        if (data !== '') yield data
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined) // the stream may already be gone, which is what we want
  }
}

type Option = { readonly shape: { readonly type: { readonly value: string } } }

function kindsOf(options: readonly Option[]): ReadonlySet<unknown> {
  return new Set(options.map((option) => option.shape.type.value))
}

function readFrame<One>(schema: z.ZodType<One>, kinds: ReadonlySet<unknown>, data: string): One | null {
  const json: unknown = JSON.parse(data)
  const frame = schema.safeParse(json)
  if (frame.success) return frame.data
  const kind = typeof json === 'object' && json !== null && 'type' in json ? json.type : null
  if (!kinds.has(kind)) return null
  throw new UnreadableFrame(`a ${kind} frame cannot be read: ${explainIssue(frame.error)}`)
}
