import {
  addToMeta,
  addToView,
  createTranscript,
  type Frame,
  type FrameOf,
  fault,
  type LivePart,
  type Message,
  type MessageId,
  type Meta,
  ok,
  type Result,
  refuse,
  type Seq,
  type SessionHandle,
  type SessionView,
} from '@holdfast/protocol'
import type { Connection, FollowOptions } from './connection.ts'

/** What a screen draws of one session, kept up to date by itself. Fields are null or empty until the first snapshot. */
export interface LiveView {
  readonly connection: Connection
  readonly meta: Meta | null
  readonly view: SessionView | null
  readonly seq: Seq
  readonly messages: readonly Message[]
  /** What is streaming and not yet recorded. */
  readonly live: readonly LivePart[]
  readonly clients: FrameOf<'presence'>['clients']
  /** Whether the line goes further back than `messages`. */
  readonly hasOlder: boolean
  /** Grows with every change: with `subscribe`, all that React's useSyncExternalStore needs. */
  readonly version: number
  /** Calls `listener` after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void
  /** Puts the page before the first message in front; asking again while it loads is the same request. */
  loadOlder(): Promise<Result<null>>
  close(): void
}

/** Follows the session from the moment it is made until `close`. */
export function createLiveView(handle: SessionHandle): LiveView {
  const closed = new AbortController()
  const listeners = new Set<() => void>()
  let connection: Connection = { state: 'connecting' }
  let meta: Meta | null = null
  let view: SessionView | null = null
  let seq: Seq = 0
  let transcript = createTranscript()
  let before: MessageId | null = null
  let clients: FrameOf<'presence'>['clients'] = []
  let version = 0
  let loading: Promise<Result<null>> | null = null

  const changed = () => {
    version++
    for (const listener of [...listeners]) listener()
  }
  const onConnection = (next: Connection) => {
    connection = next
    changed()
  }

  /** Whether the stream must start over: a moved line may stand on messages we never saw. */
  const take = (frame: Frame): boolean => {
    if (frame.type === 'snapshot') {
      meta = frame.meta
      view = frame.view
      seq = frame.seq
      transcript = createTranscript(frame.messages)
      before = frame.before
      loading = null
    } else if (frame.type === 'record') {
      seq = frame.record.seq
      if (frame.record.event.type === 'line.moved') return true
      transcript.add(frame.record)
      if (view) view = addToView(view, frame.record)
      if (meta && view) meta = addToMeta(meta, view, frame.record)
    } else if (frame.type === 'delta' || frame.type === 'draft') transcript.addLive(frame)
    else if (frame.type === 'presence') clients = frame.clients
    return false
  }

  const run = async () => {
    let again = true
    while (again && !closed.signal.aborted) {
      again = false
      const options: FollowOptions = { signal: closed.signal, onConnection }
      for await (const frame of handle.subscribe(options)) {
        if (closed.signal.aborted) return
        // A local session has no connection to speak of: its first frame says that it is there.
        if (connection.state === 'connecting') connection = { state: 'live' }
        again = take(frame)
        if (frame.type === 'end') connection = endedBy(frame, connection)
        changed()
        if (again) break
      }
    }
  }
  run().catch((error: unknown) => {
    const message = error instanceof Error ? error.message : String(error)
    onConnection({ state: 'ended', fault: fault('internal', `The session can no longer be followed: ${message}`) })
  })

  const loadPage = async (from: MessageId): Promise<Result<null>> => {
    const target = transcript
    const page = await handle.page({ before: from })
    if (transcript !== target) return ok(null) // a snapshot came in between; the page belongs to what is gone
    loading = null
    if (!page.ok) return page
    transcript.prepend(page.value.messages)
    before = page.value.before
    changed()
    return ok(null)
  }

  return {
    get connection() {
      return connection
    },
    get meta() {
      return meta
    },
    get view() {
      return view
    },
    get seq() {
      return seq
    },
    get messages() {
      return transcript.messages
    },
    get live() {
      return transcript.live
    },
    get clients() {
      return clients
    },
    get hasOlder() {
      return before !== null
    },
    get version() {
      return version
    },

    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    loadOlder() {
      if (closed.signal.aborted) return Promise.resolve(refuse(fault('session_stopped', 'This view is closed.')))
      if (before === null) return Promise.resolve(ok(null))
      loading ??= loadPage(before)
      return loading
    },

    close() {
      closed.abort()
      listeners.clear()
    },
  }
}

const endedBy = (frame: FrameOf<'end'>, known: Connection): Connection =>
  known.state === 'ended'
    ? known
    : { state: 'ended', fault: fault('session_stopped', `The session ended: ${frame.reason}.`) }
