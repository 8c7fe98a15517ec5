import type { Recorded } from '../event/event.ts'
import type { SessionId } from '../value/id.ts'
import type { Frame, FrameOf } from './frame.ts'
import type { NewsFrame } from './news.ts'

const encoder = new TextEncoder()
const encoded = new WeakMap<Frame | NewsFrame, readonly Uint8Array[]>()

/** The JSON of events that were encoded for the log, by the frame that shows them. */
const eventTexts = new WeakMap<Frame | NewsFrame, string>()

/** Builds the frame of a new record. `eventText` is the event's JSON as the log stores it: clients get the same text. */
export function createRecordFrame(sessionId: SessionId, record: Recorded, eventText: string): FrameOf<'record'> {
  const frame: FrameOf<'record'> = { type: 'record', sessionId, record }
  eventTexts.set(frame, eventText)
  return frame
}

/** The part of a snapshot that follows from the records up to its seq: the same for everyone who asks at that seq. */
export type RecordedView = Pick<FrameOf<'snapshot'>, 'seq' | 'view' | 'messages' | 'before' | 'summary'>

const recordedViews = new WeakMap<Frame | NewsFrame, RecordedView>()
const encodedViews = new WeakMap<RecordedView, Uint8Array>()

/** Builds a snapshot. Snapshots with the same recorded view share its encoding. */
export function createSnapshotFrame(
  recorded: RecordedView,
  own: Pick<FrameOf<'snapshot'>, 'sessionId' | 'meta' | 'here'>,
): FrameOf<'snapshot'> {
  const { sessionId, meta, here } = own
  const { seq, view, messages, before, summary } = recorded
  const frame: FrameOf<'snapshot'> = { type: 'snapshot', sessionId, seq, meta, view, messages, before, summary, here }
  recordedViews.set(frame, recorded)
  return frame
}

/**
 * Encodes a frame as a server-sent event, in pieces and once for all its subscribers. Only a record has a cursor, and so
 * an id.
 */
export function encodeFrame(frame: Frame | NewsFrame): readonly Uint8Array[] {
  const known = encoded.get(frame)
  if (known) return known
  const recorded = recordedViews.get(frame)
  const eventText = eventTexts.get(frame)
  let pieces: readonly Uint8Array[]
  if (frame.type === 'snapshot' && recorded) pieces = encodeSnapshot(frame, recorded)
  else if (frame.type === 'record' && eventText !== undefined) {
    const { event: _, ...head } = frame.record // the event is the last field of a record
    const json = `${JSON.stringify({ ...frame, record: head }).slice(0, -2)},"event":${eventText}}}`
    pieces = [encoder.encode(`id: ${frame.record.seq}\nevent: record\ndata: ${json}\n\n`)]
  } else {
    const id = frame.type === 'record' ? `id: ${frame.record.seq}\n` : ''
    pieces = [encoder.encode(`${id}event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`)]
  }
  encoded.set(frame, pieces)
  return pieces
}

function encodeSnapshot(
  { type, sessionId, meta, here }: FrameOf<'snapshot'>,
  recorded: RecordedView,
): readonly Uint8Array[] {
  const { seq, view, messages, before, summary } = recorded
  const shared =
    encodedViews.get(recorded) ??
    encoder.encode(`${JSON.stringify({ seq, view, messages, before, summary }).slice(1)}\n\n`)
  encodedViews.set(recorded, shared)
  const own = JSON.stringify({ type, sessionId, meta, here }).slice(0, -1)
  return [encoder.encode(`event: snapshot\ndata: ${own},`), shared]
}
