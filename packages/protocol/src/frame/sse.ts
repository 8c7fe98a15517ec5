import type { Recorded } from '../event/event.ts'
import type { SessionId } from '../value/id.ts'
import type { Frame, FrameOf } from './frame.ts'
import type { NewsFrame } from './news.ts'

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame | NewsFrame, Uint8Array>()

/** The JSON of events that were encoded for the log, by the frame that shows them. */
const eventTexts = new WeakMap<Frame | NewsFrame, string>()

/** Builds the frame of a new record. `eventText` is the event's JSON as the log stores it: clients get the same text. */
export function createRecordFrame(sessionId: SessionId, record: Recorded, eventText: string): FrameOf<'record'> {
  const frame: FrameOf<'record'> = { type: 'record', sessionId, record }
  eventTexts.set(frame, eventText)
  return frame
}

/** Encodes a frame as a server-sent event, once for all its subscribers. Only a record has a cursor, and so an id. */
export function encodeFrame(frame: Frame | NewsFrame): Uint8Array {
  const known = encoded.get(frame)
  if (known) return known
  const id = frame.type === 'record' ? `id: ${frame.record.seq}\n` : ''
  const eventText = eventTexts.get(frame)
  let json: string
  if (frame.type === 'record' && eventText !== undefined) {
    const { event: _, ...head } = frame.record // the event is the last field of a record
    json = `${JSON.stringify({ ...frame, record: head }).slice(0, -2)},"event":${eventText}}}`
  } else json = JSON.stringify(frame)
  const bytes = encoder.encode(`${id}event: ${frame.type}\ndata: ${json}\n\n`)
  encoded.set(frame, bytes)
  return bytes
}
