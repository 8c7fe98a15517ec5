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

/** Encodes a frame as a server-sent event, once for all subscribers of the same frame. */
export const encodeFrame = (frame: Frame): Uint8Array =>
  encodeOnce(frame, frame.type === 'record' ? `id: ${frame.record.seq}\n` : '')

/** Encodes news, which have no cursor and so no id. */
export const encodeNews = (news: NewsFrame): Uint8Array => encodeOnce(news, '')

function encodeOnce(frame: Frame | NewsFrame, id: string): Uint8Array {
  const known = encoded.get(frame)
  if (known) return known
  const bytes = encoder.encode(`${id}event: ${frame.type}\ndata: ${toJson(frame)}\n\n`)
  encoded.set(frame, bytes)
  return bytes
}

/** Returns `JSON.stringify(frame)`, with the text of an event that is encoded already put in its place. */
function toJson(frame: Frame | NewsFrame): string {
  const eventText = eventTexts.get(frame)
  if (frame.type !== 'record' || eventText === undefined) return JSON.stringify(frame)
  const { event: _, ...head } = frame.record // the event is the last field of a record
  return `${JSON.stringify({ ...frame, record: head }).slice(0, -2)},"event":${eventText}}}`
}
