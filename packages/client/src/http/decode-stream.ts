import { explainIssue, Frame, NewsFrame } from '@holdfast/protocol'
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

async function* decode<One>(body: ReadableStream<Uint8Array>, schema: FrameSchema<One>): AsyncGenerator<One> {
  const known = new Set<unknown>(schema.options.map(({ shape }) => shape.type.value))
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
      for (const data of ready) {
        const frame = parseFrame(schema, known, data)
        if (frame !== null) yield frame
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined) // the stream may already be closed
  }
}

function parseFrame<One>(schema: FrameSchema<One>, known: ReadonlySet<unknown>, data: string): One | null {
  const json: unknown = JSON.parse(data)
  const frame = schema.safeParse(json)
  if (frame.success) return frame.data
  const type = typeof json === 'object' && json !== null && 'type' in json ? json.type : null
  if (!known.has(type)) return null
  throw new UnreadableFrame(`a ${type} frame cannot be read: ${explainIssue(frame.error)}`)
}
