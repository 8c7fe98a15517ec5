import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { z } from 'zod'
import type { Dribble, MessageOf, StreamError, StrictAnswer } from './answer.ts'
import { serveLocally } from './local-server.ts'

/** A request that a fake server received. */
export type ReceivedRequest = {
  /** The path of its URL. */
  readonly path: string
  /** Its headers. */
  readonly headers: IncomingHttpHeaders
  /** Its body, parsed as JSON. */
  readonly body: unknown
  /** The service's error for its history; the answer was then 400 instead of the scripted one. */
  readonly complaint: string | null
  /** Resolves when its connection is closed, whether the answer was complete or not. */
  readonly closed: Promise<void>
}

/** A fake model server that refuses every request the real one would refuse. */
export type StrictServer<Answer> = AsyncDisposable & {
  /** The base URL for a client, without the API version. */
  readonly url: string
  /** The requests it received, in order. */
  readonly requests: readonly ReceivedRequest[]
  /** Adds answers to the end of the script. */
  answer(...answers: readonly Answer[]): void
  /** Resolves with the n-th request, counted from 1, when it has been received. */
  received(count: number): Promise<ReceivedRequest>
  /** Closes all connections at once. */
  close(): Promise<void>
}

/** One event of a stream: its name, if the service uses names, and its data. */
export type SseEvent = { readonly event?: string; readonly data: string }

/** A request to a fake server: its method, path and parsed body. */
export type ApiRequest = { readonly method: string; readonly path: string; readonly body: unknown }

/** The differences between services. `Given` is what a service remembers of an answer to check later requests. */
export type StrictApiDefinition<Answer, Given> = {
  /** Returns the error with which the service would reject the request, or null. */
  complaintAbout(request: ApiRequest, given: readonly Given[]): string | null
  errorBody(status: number, message: string): object
  /** Returns the events in which the service streams an answer. `number` makes its ids unique. */
  events(message: MessageOf<Answer>, number: number, request: ApiRequest): readonly SseEvent[]
  streamError(error: StreamError): SseEvent
  givenBy(message: MessageOf<Answer>, number: number): Given
  /** The same for an answer that another server streamed, complete or not. */
  givenInStream(events: readonly SseEvent[]): Given
}

type AnyAnswer = StrictAnswer<unknown, unknown>

/** A service without a socket. It checks requests and remembers its answers. */
export type StrictApi<Answer> = {
  /** Returns the error with which the service would reject the request, or null. */
  complaintAbout(request: ApiRequest): string | null
  /** Returns the body of an error in the terms of the API. */
  errorBody(status: number, message: string): object
  /** Returns the events of an answer and remembers it to check later requests. */
  give(message: MessageOf<Answer>, request: ApiRequest): readonly SseEvent[]
  /** Remembers an answer that another server streamed, to check later requests. */
  rememberStreamed(events: readonly SseEvent[]): void
  /** Returns the event of an error within a stream. */
  streamError(error: StreamError): SseEvent
}

export function createStrictApi<Answer extends AnyAnswer, Given>(
  service: StrictApiDefinition<Answer, Given>,
): StrictApi<Answer> {
  const given: Given[] = []
  return {
    complaintAbout: (request) => service.complaintAbout(request, given),
    errorBody: service.errorBody,
    give(message, request) {
      const number = given.length + 1
      given.push(service.givenBy(message, number))
      return service.events(message, number, request)
    },
    rememberStreamed: (events) => void given.push(service.givenInStream(events)),
    streamError: service.streamError,
  }
}

/** Returns the events of a body. The last one may be incomplete. */
export const sseEvents = (text: string): readonly SseEvent[] =>
  text.split(/\r?\n\r?\n/).flatMap((block) => {
    const data = block.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
    return data.length > 0 ? [{ data: data.join('\n') }] : []
  })

/** Encodes an event for the body of a stream. */
export const sseText = ({ event, data }: SseEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`

/**
 * Starts a local server that streams scripted answers in the format of a service and is as strict as the real one. A history
 * that the API would reject is answered with 400 and the API's own message, and uses up no scripted answer.
 */
export async function startStrictServer<Answer extends AnyAnswer, Given>(
  service: StrictApiDefinition<Answer, Given>,
  answers: readonly Answer[],
): Promise<StrictServer<Answer>> {
  const script = [...answers]
  const api = createStrictApi(service)
  const requests: ReceivedRequest[] = []
  const waiting: { readonly count: number; readonly resolve: (request: ReceivedRequest) => void }[] = []

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = { method: incoming.method ?? '', path: incoming.url ?? '', body: await bodyOf(incoming) }
    const complaint = api.complaintAbout(request)
    const closed = new Promise<void>((resolve) => void response.once('close', resolve))
    const received = { path: request.path, headers: incoming.headers, body: request.body, complaint, closed }
    requests.push(received)
    const number = requests.length
    for (const { count, resolve } of waiting) if (count === number) resolve(received)

    const fail = (status: number, message: string, headers = {}) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(api.errorBody(status, message)))

    if (complaint !== null) return fail(400, complaint)
    const answer = script.shift()
    if (answer === undefined) return fail(500, `the script has no answer for request ${number}`)
    switch (answer.type) {
      case 'hang':
        return
      case 'drop':
        return void response.destroy()
      case 'page':
        return void response.writeHead(answer.status, { 'content-type': 'text/html' }).end(answer.body)
      case 'error':
        return fail(answer.status, answer.message, answer.headers)
      case 'message': {
        const message = answer as MessageOf<Answer> // the switch narrows the member, not the parameter
        return await stream(answer, api.give(message, request), api.streamError, response)
      }
    }
  }

  const { url, close } = await serveLocally(handle)
  return {
    url,
    requests,
    answer: (...more) => void script.push(...more),
    received: async (count) => requests[count - 1] ?? new Promise((resolve) => void waiting.push({ count, resolve })),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return null
  }
}

async function stream(
  { after, dribble }: MessageOf<AnyAnswer>,
  events: readonly SseEvent[],
  errorEvent: (error: StreamError) => SseEvent,
  response: ServerResponse,
): Promise<void> {
  const send = (bytes: string | Uint8Array) => new Promise<void>((sent) => response.write(bytes, () => sent()))
  const write = (event: SseEvent) => (dribble ? sendSlowly(sseText(event), dribble, send) : send(sseText(event)))
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.flushHeaders()

  for (const [index, event] of events.entries()) {
    if (index === after?.events) {
      const { detour } = after
      if (detour.type === 'hang') return
      if (detour.type === 'cut') return void response.destroy()
      if (detour.type === 'stop') break
      if (detour.type === 'wait') await detour.gate.pass()
      if (detour.type === 'noise') await send(detour.text)
      if (detour.type === 'error') {
        await write(errorEvent(detour))
        break
      }
    }
    await write(event)
  }
  response.end()
}

/** Waits by the wall clock, because slow sending is what the test is about. */
async function sendSlowly(
  text: string,
  { bytes, everyMs }: Dribble,
  send: (piece: Uint8Array) => Promise<void>,
): Promise<void> {
  const all = Buffer.from(text)
  for (let at = 0; at < all.length; at += bytes) {
    await delay(everyMs)
    await send(all.subarray(at, at + bytes))
  }
}

/** Parses the events that match a schema, in order. Ignores a last event that was cut off. */
export const parsedEvents = <Schema extends z.ZodType>(
  events: readonly SseEvent[],
  schema: Schema,
): readonly z.infer<Schema>[] =>
  events.flatMap(({ data }) => {
    const parsed = schema.safeParse(jsonOf(data))
    return parsed.success ? [parsed.data] : []
  })

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
