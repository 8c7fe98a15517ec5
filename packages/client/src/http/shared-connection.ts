import type { Fault, NewsFrame, SessionNews, StreamStarted } from '@holdfast/protocol'
import { decodeShared, type SharedFrame } from './decode-stream.ts'
import { type Connection, followStream } from './follow-stream.ts'
import type { Http } from './http.ts'
import { createOpenStream, type OpenStream } from './open-stream.ts'

type ConnectionDeps = {
  readonly onState: (connection: Connection) => void
  readonly onNews: (news: SessionNews) => void
  /** Called when the server has refused the connection. It is not tried again until `start`. */
  readonly onRefused: () => void
}

export type SharedConnection = ReturnType<typeof createSharedConnection>

/** Creates the connection of a shared stream. Between `start` and `stop` it connects again after each loss. */
export function createSharedConnection(wire: Http, { onState, onNews, onRefused }: ConnectionDeps) {
  let running: AbortController | null = null
  let open: OpenStream | null = null
  let refused: Fault | null = null
  let changed = Promise.withResolvers<void>()

  const notify = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const closeStream = () => {
    const lost = open
    open = null
    lost?.close()
  }
  const take = (frame: SharedFrame | StreamStarted | NewsFrame): null => {
    if (frame.type === 'stream') {
      open = createOpenStream(wire, frame.stream)
      onState({ state: 'live' })
      notify()
    } else if (frame.type === 'session') open?.take(frame.frame)
    else if (frame.type !== 'end') onNews(frame)
    return null
  }
  const run = async (mine: AbortController) => {
    refused = null
    const frames = followStream(wire, {
      signal: mine.signal,
      path: () => '/v1/stream',
      decode: decodeShared,
      take: (frame) => (running === mine ? take(frame) : null),
      onConnection(connection) {
        // Report `live` only after the stream id arrived.
        if (running !== mine || connection.state === 'live' || connection.state === 'connecting') return
        closeStream()
        onState(connection)
        notify()
      },
    })
    const last = await frames.next() // `take` keeps every frame, so that the first value is the last
    if (running !== mine) return
    running = null
    closeStream()
    refused = last.value
    onRefused()
    notify()
  }

  return {
    get stream(): OpenStream | null {
      return open
    },
    /** Why the server refused the last connection; null if it did not. */
    get refused(): Fault | null {
      return refused
    },
    get isRunning(): boolean {
      return running !== null
    },
    /** Resolves when the stream, the refusal or the needs of the users change. */
    changed: () => changed.promise,
    notify,
    start(): void {
      if (running !== null) return
      running = new AbortController()
      void run(running)
    },
    stop(): void {
      running?.abort()
      running = null
      closeStream()
    },
    /** Forgets a refusal, so that the next start tries again. */
    forgive(): void {
      if (running === null) refused = null
    },
  }
}
