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

/** The frames of an event stream. Comments (heartbeats) and unknown events are passed over. */
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
        const frame = data === '' ? null : Frame.safeParse(JSON.parse(data))
        if (frame?.success) yield frame.data
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined) // the stream may already be gone, which is what we want
  }
}
