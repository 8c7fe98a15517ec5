import type { Frame } from './frame.ts'
import type { NewsFrame } from './news.ts'

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame | NewsFrame, Uint8Array>()

/** Encodes a frame as a server-sent event, once for all subscribers. */
export const encodeFrame = (frame: Frame): Uint8Array =>
  encodeOnce(frame, frame.type === 'record' ? `id: ${frame.record.seq}\n` : '')

/** Encodes news. They have no cursor, so they have no id. */
export const encodeNews = (news: NewsFrame): Uint8Array => encodeOnce(news, '')

function encodeOnce(frame: Frame | NewsFrame, id: string): Uint8Array {
  const known = encoded.get(frame)
  if (known) return known
  const bytes = encoder.encode(`${id}event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)
  encoded.set(frame, bytes)
  return bytes
}
