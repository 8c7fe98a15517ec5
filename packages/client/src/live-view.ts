import {
  type Answer,
  addToMeta,
  addToView,
  type CommandInput,
  createCommandId,
  createTranscript,
  type Event,
  type Frame,
  type FrameOf,
  fault,
  type LivePart,
  type Message,
  type MessageId,
  type Meta,
  ok,
  type ProcessView,
  type Result,
  type Role,
  refuse,
  type Seq,
  type SessionHandle,
  type SessionView,
  type StorageError,
  type SubmitOptions,
  withModelStatus,
} from '@holdfast/protocol'
import type { Connection, FollowOptions } from './http/follow-stream.ts'

export type LiveViewOptions = {
  /** Who looks; the same name after a reload is the same client. Made here if missing. */
  readonly client?: string | undefined
  /** `viewer` only watches; without it the first to come drives. */
  readonly role?: Role | undefined
}

/** What a screen draws of one session, kept up to date by itself. Fields are null or empty until the first snapshot. */
export interface LiveView {
  readonly connection: Connection
  readonly meta: Meta | null
  readonly view: SessionView | null
  readonly seq: Seq
  readonly messages: readonly Message[]
  /** What is streaming and not yet recorded. */
  readonly live: readonly LivePart[]
  /** Who this view is to the session: it subscribes and commands by this name. */
  readonly client: string
  /** Who is attached, in the order they came. */
  readonly presence: FrameOf<'presence'>['clients']
  /** What is not on record: whether the model could be called, and how much it takes. */
  readonly here: ProcessView | null
  /** Why the store refuses what the session writes; null while it takes it. */
  readonly storageError: StorageError | null
  /** Whether the line goes further back than `messages`. */
  readonly hasOlder: boolean
  /** Grows with every change: with `subscribe`, all that React's useSyncExternalStore needs. */
  readonly version: number
  /** Calls `listener` after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void
  /** What `client` may do, by the newest presence; null while it is not attached. */
  subscriberRole(client: string): Role | null
  /** A command in this view's name. */
  submit(command: CommandInput, options?: Omit<SubmitOptions, 'as'>): Promise<Result<Answer>>
  /** Puts the page before the first message in front; asking again while it loads is the same request. */
  loadOlder(): Promise<Result<null>>
  close(): void
}

/** Follows the session from the moment it is made until `close`. */
export function createLiveView(
  handle: SessionHandle,
  { client = createCommandId(), role }: LiveViewOptions = {},
): LiveView {
  const closed = new AbortController()
  const listeners = new Set<() => void>()
  let connection: Connection = { state: 'connecting' }
  let meta: Meta | null = null
  let view: SessionView | null = null
  let seq: Seq = 0
  let transcript = createTranscript()
  let before: MessageId | null = null
  let presence: FrameOf<'presence'>['clients'] = []
  let here: ProcessView | null = null
  let storageError: StorageError | null = null
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

  /** Whether the view must be drawn anew: a moved line may stand on messages we never saw. */
  const take = (frame: Frame): boolean => {
    if (frame.type === 'snapshot') {
      meta = frame.meta
      view = frame.view
      seq = frame.seq
      transcript = createTranscript(frame.messages, frame.view.collapsed)
      before = frame.before
      here = frame.here
      storageError = frame.here?.storageError ?? null
      loading = null
    } else if (frame.type === 'record') {
      if (frame.record.seq <= seq) return false // the snapshot that came in between holds it
      seq = frame.record.seq
      if (frame.record.event.type === 'line.moved') return true
      transcript.add(frame.record)
      if (view) view = addToView(view, frame.record)
      if (meta && view) meta = addToMeta(meta, view, frame.record)
      if (changesHere(frame.record.event)) lookHere(seq)
    } else if (frame.type === 'delta' || frame.type === 'draft') transcript.addLive(frame)
    else if (frame.type === 'presence') presence = frame.clients
    else if (frame.type === 'storage') {
      storageError = frame.error
      here = here && { ...here, storageError }
    } else if (frame.type === 'model') here = here && withModelStatus(here, frame)
    return false
  }

  /** What is not on record may be otherwise now. */
  const lookHere = async (since: Seq) => {
    const now = await handle.snapshot()
    if (!now.ok || now.value.seq < since || closed.signal.aborted) return
    const known = now.value.here
    // The stream tells of store and model in order, and this may be late.
    here = known && { ...(here ?? known), clients: known.clients, workspaceTrust: known.workspaceTrust }
    changed()
  }

  const run = async () => {
    let again = true
    while (again && !closed.signal.aborted) {
      again = false
      const options: FollowOptions = { client, role, signal: closed.signal, onConnection }
      for await (const frame of handle.subscribe(options)) {
        if (closed.signal.aborted) return
        // A local session has no connection to speak of: its first frame says that it is there.
        if (connection.state === 'connecting') connection = { state: 'live' }
        // Asked for beside the stream, not by a new one: whoever drives keeps the seat.
        const anew = take(frame) ? await handle.snapshot() : null
        if (anew?.ok) take(anew.value)
        again = anew?.ok === false
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
    client,
    get presence() {
      return presence
    },
    get here() {
      return here
    },
    get storageError() {
      return storageError
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

    subscriberRole: (client) => presence.find((one) => one.client === client)?.role ?? null,
    submit: (command, options) => handle.submit(command, { ...options, as: client }),

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

/** The workspace's trust is not the session's: no record says how it stands. */
const changesHere = (event: Event): boolean => event.type === 'trust.granted' || event.type === 'trust.revoked'
