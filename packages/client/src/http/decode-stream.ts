import { explainIssue, Frame, NewsFrame, NodeNews, StreamStarted } from '@holdfast/protocol'
import { createParser } from 'eventsource-parser'

/** A frame of a known type that does not fit its schema. Skipping it would leave an unnoticed gap. */
export class UnreadableFrame extends Error {
  override readonly name = 'UnreadableFrame'
}

type FrameSchema<One> = {
  readonly options: readonly { readonly shape: { readonly type: { readonly value: string } } }[]
  readonly safeParse: (
    value: unknown,
  ) => { readonly success: true; readonly data: One } | { readonly success: false; readonly error: IssueError }
}
type IssueError = Parameters<typeof explainIssue>[0]

/** Decodes the event stream of a session. Comments (heartbeats) and unknown event types are ignored. */
export const decodeFrames = (body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> => decode(body, Frame)

/** Decodes the news stream of all sessions. */
export const decodeNews = (body: ReadableStream<Uint8Array>): AsyncGenerator<NewsFrame> => decode(body, NewsFrame)

/** Decodes the news that one node tells another. */
export const decodeNodeNews = (body: ReadableStream<Uint8Array>): AsyncGenerator<NodeNews> => decode(body, NodeNews)

/** A frame of one of several sessions, in the stream of all. */
export type SharedFrame = { readonly type: 'session'; readonly frame: Frame }

const frameTypes = knownTypes(Frame)
const newsTypes = knownTypes(NewsFrame)

/** Decodes the stream of several sessions: its id, their frames, and the news. */
export async function* decodeShared(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamStarted | SharedFrame | NewsFrame> {
  for await (const json of decodeJson(body)) {
    if (hasField(json, 'sessionId')) {
      const frame = parseFrame(Frame, frameTypes, json)
      if (frame !== null) yield { type: 'session', frame }
    } else if (typeOf(json) === 'stream') yield StreamStarted.parse(json)
    else {
      const news = parseFrame(NewsFrame, newsTypes, json)
      if (news !== null) yield news
    }
  }
}

async function* decode<One>(body: ReadableStream<Uint8Array>, schema: FrameSchema<One>): AsyncGenerator<One> {
  const known = knownTypes(schema)
  for await (const json of decodeJson(body)) {
    const frame = parseFrame(schema, known, json)
    if (frame !== null) yield frame
  }
}

function knownTypes({ options }: Pick<FrameSchema<unknown>, 'options'>): ReadonlySet<unknown> {
  return new Set(options.map(({ shape }) => shape.type.value))
}

/** Yields the data of each event. */
async function* decodeJson(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => events.push(data) })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      const ready = events
      events = []
      for (const data of ready) yield JSON.parse(data)
    }
  } finally {
    await reader.cancel().catch(() => undefined) // the stream may already be closed
  }
}

function parseFrame<One>(schema: FrameSchema<One>, known: ReadonlySet<unknown>, json: unknown): One | null {
  const frame = schema.safeParse(json)
  if (frame.success) return frame.data
  const type = typeOf(json)
  if (!known.has(type)) return null
  throw new UnreadableFrame(`a ${type} frame cannot be read: ${explainIssue(frame.error)}`)
}

const hasField = (json: unknown, name: string): boolean => typeof json === 'object' && json !== null && name in json

const typeOf = (json: unknown): unknown => (hasField(json, 'type') ? Reflect.get(Object(json), 'type') : null)
