import { explainIssue } from './explain.ts'
import { Frame } from './frame.ts'

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame, Uint8Array>()

/** One frame as one server-sent event. Encoded once, however many subscribers the same frame goes to. */
export function encodeFrame(frame: Frame): Uint8Array {
  const known = encoded.get(frame)
  if (known) return known
  const id = frame.type === 'record' ? `id: ${frame.record.seq}\n` : ''
  const bytes = encoder.encode(`${id}event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)
  encoded.set(frame, bytes)
  return bytes
}

/** A frame of a kind we know, in a form we do not: passing it over would be a gap nobody sees. */
export class UnreadableFrame extends Error {
  override readonly name = 'UnreadableFrame'
}

/** The frames of an event stream. Comments (heartbeats) and kinds of a later day are passed over. */
export async function* decodeFrames(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
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
        const frame = data === '' ? null : readFrame(data)
        if (frame) yield frame
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined) // the stream may already be gone, which is what we want
  }
}

const kinds: ReadonlySet<unknown> = new Set(Frame.options.map((option) => option.shape.type.value))

function readFrame(data: string): Frame | null {
  const json: unknown = JSON.parse(data)
  const frame = Frame.safeParse(json)
  if (frame.success) return frame.data
  const kind = typeof json === 'object' && json !== null && 'type' in json ? json.type : null
  if (!kinds.has(kind)) return null
  throw new UnreadableFrame(`a ${kind} frame cannot be read: ${explainIssue(frame.error)}`)
}
