import { createEventSplitter } from './split-events.ts'

/** One stream of a window, on the connection of all windows. */
export type Passenger = {
  /** Takes the bytes of whole events. */
  readonly onBytes: (bytes: Uint8Array<ArrayBuffer>) => void
  /** Called once if the server refuses the stream. */
  readonly onRefused: (status: number, body: string) => void
  /** Called once when the connection is over. */
  readonly onLost: () => void
}

type CarrierDeps = {
  readonly fetch: typeof fetch
  /** A connection without data or heartbeats for this long is dead. */
  readonly silenceMs: number
  /** Calls `work` after a time, unless the returned function is called. */
  readonly after: (ms: number, work: () => void) => () => void
  readonly now: () => number
}

/** A comment. It tells the other windows that the connection is alive while events come for one of them. */
const alive = new TextEncoder().encode(': alive\n\n')

type Connection = {
  readonly gone: AbortController
  /** The id of the connection's own stream. */
  readonly id: Promise<string>
  readonly passengers: Map<string, Passenger>
  /** When all windows last got something. */
  heardMs: number
}

/** Carries the streams of all windows on one connection: a browser allows six connections to a server. */
export function createCarrier({ fetch, silenceMs, after, now }: CarrierDeps) {
  let current: Connection | null = null
  let lastTag = 0

  const lose = (connection: Connection) => {
    connection.gone.abort()
    if (current === connection) current = null
    const left = [...connection.passengers.values()]
    connection.passengers.clear()
    for (const { onLost } of left) onLost()
  }

  const deliver = (connection: Connection, tag: string | null, bytes: Uint8Array<ArrayBuffer>) => {
    if (tag !== null) {
      connection.passengers.get(tag)?.onBytes(bytes)
      return
    }
    connection.heardMs = now()
    for (const { onBytes } of connection.passengers.values()) onBytes(bytes.slice()) // each transfers its copy
  }

  const connect = (): Connection => {
    const id = Promise.withResolvers<string>()
    id.promise.catch(() => undefined) // `joinConnection` gets the error
    const connection: Connection = {
      gone: new AbortController(),
      id: id.promise,
      passengers: new Map(),
      heardMs: now(),
    }
    const run = async () => {
      const { signal } = connection.gone
      const response = await fetch('/v1/stream?news=false', { signal })
      if (!response.ok || !response.body) throw new Refusal(response.status, await response.text())
      const splitter = createEventSplitter()
      const reader = response.body.getReader()
      let isFirst = true
      for (;;) {
        const stopWatch = after(silenceMs, () => lose(connection))
        const { done, value } = await reader.read().finally(stopWatch)
        if (done) return
        for (const { tag, bytes } of splitter.split(value)) {
          const started = isFirst && tag === null ? streamOf(bytes) : null
          if (started !== null) id.resolve(started)
          if (started !== null) isFirst = false
          else deliver(connection, tag, bytes)
        }
        if (now() - connection.heardMs > silenceMs / 4) deliver(connection, null, alive)
      }
    }
    run()
      .catch((error: unknown) => {
        id.reject(error)
        if (!(error instanceof Refusal)) return
        for (const [tag, { onRefused }] of connection.passengers) {
          connection.passengers.delete(tag)
          onRefused(error.status, error.body)
        }
      })
      .finally(() => {
        id.reject(new Error('the connection is over'))
        lose(connection)
      })
    return connection
  }

  return {
    /** Opens a stream for a window. Returns the function that ends it. */
    join(passenger: Passenger, query: { readonly news: boolean }): () => void {
      current ??= connect()
      const connection = current
      const tag = `w${++lastTag}`
      connection.passengers.set(tag, passenger)
      const joined = joinConnection(fetch, connection, tag, query.news)
      joined.then(
        (refusal) => {
          if (refusal.status === 200) return
          if (refusal.status === 404)
            lose(connection) // the server knows of its end first
          else if (connection.passengers.delete(tag)) passenger.onRefused(refusal.status, refusal.body)
        },
        () => connection.passengers.delete(tag) && passenger.onLost(),
      )
      return () => {
        if (!connection.passengers.delete(tag)) return
        if (connection.passengers.size === 0) lose(connection)
        else
          void joined
            .then(({ stream }) => (stream === null ? null : fetch(`/v1/stream/${stream}`, { method: 'DELETE' })))
            .catch(() => undefined) // then the connection is over, and the stream with it
      }
    },
  }
}

class Refusal extends Error {
  readonly status: number
  readonly body: string
  constructor(status: number, body: string) {
    super(`refused with status ${status}`)
    this.status = status
    this.body = body
  }
}

async function joinConnection(send: typeof fetch, { id, gone }: Connection, tag: string, news: boolean) {
  const response = await send(`/v1/stream/${await id}/join`, {
    method: 'POST',
    body: JSON.stringify({ tag, news }),
    signal: gone.signal,
    headers: { 'content-type': 'application/json' },
  })
  const body = await response.text()
  return { status: response.status, body, stream: response.ok ? streamIn(body) : null }
}

/** Returns the id in the first event of a stream; null if the events are others, such as heartbeats. */
function streamOf(bytes: Uint8Array): string | null {
  const data = /^data: (.*)$/m.exec(new TextDecoder().decode(bytes))?.[1]
  return data === undefined ? null : streamIn(data)
}

function streamIn(json: string): string | null {
  const { stream } = JSON.parse(json)
  return typeof stream === 'string' ? stream : null
}
