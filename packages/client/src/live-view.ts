import {
  type Answer,
  addToMeta,
  addToView,
  type CommandInput,
  type CommandOptions,
  createCommandId,
  createTranscript,
  errorMessage,
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
  withChildFrame,
  withModelStatus,
} from '@holdfast/protocol'
import type { Connection, FollowOptions } from './http/follow-stream.ts'

/** How a live view reads the session. */
export type LiveViewOptions = {
  /** The client id; reuse it after a reload. Random when absent. */
  readonly client?: string | undefined
  /** `viewer` only watches. When absent, the first client becomes the driver. */
  readonly role?: Role | undefined
  /** Lets a viewer claim control and abort. Over HTTP the token decides instead. */
  readonly mayDrive?: boolean | undefined
}

/** Everything a screen shows of a session, updated automatically. Null or empty until the first snapshot. */
export interface LiveView {
  /** Whether the view is connected, and why not. */
  readonly connection: Connection
  /** The row of the session in a list; null until the first frame. */
  readonly meta: Meta | null
  /** The state of the session; null until the first frame. */
  readonly view: SessionView | null
  /** The seq of the last record that the view contains. */
  readonly seq: Seq
  /** The loaded messages, oldest first. */
  readonly messages: readonly Message[]
  /** Parts that are streaming and not yet recorded. */
  readonly live: readonly LivePart[]
  /** The client id it subscribes and sends commands with. */
  readonly client: string
  /** Attached clients, in order of arrival. */
  readonly presence: FrameOf<'presence'>['clients']
  /** State that is not in the log, such as the model's status. */
  readonly here: ProcessView | null
  /** Why the store rejects writes; null while writes succeed. */
  readonly storageError: StorageError | null
  /** Whether there are older messages to load. */
  readonly hasOlder: boolean
  /** Grows with every change, for React's useSyncExternalStore. */
  readonly version: number
  /** Calls `listener` after every change, until the returned function is called. */
  subscribe(listener: () => void): () => void
  /** Returns the role of a client; null while it is not attached. */
  subscriberRole(client: string): Role | null
  /** Submits a command as this client. */
  submit(command: CommandInput, options?: Omit<CommandOptions, 'as'>): Promise<Result<Answer>>
  /** Loads the previous page. Calls during a load share one request. */
  loadOlder(): Promise<Result<null>>
  /** Stops following the session. */
  close(): void
}

/** Creates a view that follows the session until `close`. */
export function createLiveView(
  handle: SessionHandle,
  { client = createCommandId(), role, mayDrive }: LiveViewOptions = {},
): LiveView {
  const closed = new AbortController()
  const listeners = new Set<() => void>()
  const loaded: Loaded = { transcript: createTranscript(), before: null, loading: null }

  const state: Writable<LiveView> = {
    connection: { state: 'connecting' },
    meta: null,
    view: null,
    seq: 0,
    get messages() {
      return loaded.transcript.messages
    },
    get live() {
      return loaded.transcript.live
    },
    client,
    presence: [],
    here: null,
    storageError: null,
    get hasOlder() {
      return loaded.before !== null
    },
    version: 0,

    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },

    subscriberRole: (client) => state.presence.find((one) => one.client === client)?.role ?? null,
    submit: (command, options) => handle.submit(command, { ...options, as: client }),

    loadOlder() {
      if (closed.signal.aborted) return Promise.resolve(refuse(fault('session_stopped', 'This view is closed.')))
      if (loaded.before === null) return Promise.resolve(ok(null))
      loaded.loading ??= loadPage(loaded.before)
      return loaded.loading
    },

    close() {
      closed.abort()
      listeners.clear()
    },
  }

  const changed = () => {
    state.version++
    for (const listener of [...listeners]) listener()
  }
  const onConnection = (next: Connection) => {
    state.connection = next
    changed()
  }

  /** Reloads the state that is not in the log. */
  const reloadProcessView = async (since: Seq) => {
    const now = await handle.snapshot()
    if (!now.ok || now.value.seq < since || closed.signal.aborted) return
    const known = now.value.here
    // Store and model come in order by the stream; this answer may be older.
    state.here = known && { ...(state.here ?? known), clients: known.clients, workspaceTrust: known.workspaceTrust }
    changed()
  }

  const run = async () => {
    let again = true
    while (again && !closed.signal.aborted) {
      again = false
      const options: FollowOptions = { client, role, mayDrive, signal: closed.signal, onConnection }
      for await (const frame of handle.subscribe(options)) {
        if (closed.signal.aborted) return
        // A local session has no connection: its first frame means that it is live.
        if (state.connection.state === 'connecting') state.connection = { state: 'live' }
        // Not by a new stream: a driver that reconnects could lose control.
        const seen = state.seq
        const fresh = applyFrame(state, loaded, frame) ? await handle.snapshot() : null
        if (fresh?.ok) applyFrame(state, loaded, fresh.value)
        if (state.seq > seen && changesWorkspaceTrust(frame)) void reloadProcessView(state.seq)
        again = fresh?.ok === false
        if (frame.type === 'end') state.connection = endedBy(frame, state.connection)
        changed()
        if (again) break
      }
    }
  }
  run().catch((error: unknown) => {
    const message = errorMessage(error)
    onConnection({ state: 'ended', fault: fault('internal', `Following the session failed: ${message}`) })
  })

  const loadPage = async (from: MessageId): Promise<Result<null>> => {
    const target = loaded.transcript
    const page = await handle.page({ before: from })
    if (loaded.transcript !== target) return ok(null) // a new snapshot replaced the transcript
    loaded.loading = null
    if (!page.ok) return page
    loaded.transcript.prepend(page.value.messages)
    loaded.before = page.value.before
    changed()
    return ok(null)
  }

  return state
}

type Writable<Type> = { -readonly [Name in keyof Type]: Type[Name] }

/** The loaded messages, and the page before them. */
type Loaded = {
  transcript: ReturnType<typeof createTranscript>
  before: MessageId | null
  loading: Promise<Result<null>> | null
}

/** Applies a frame. Returns true if a new snapshot is needed: a moved line may have unknown messages. */
function applyFrame(state: Writable<LiveView>, loaded: Loaded, frame: Frame): boolean {
  if (frame.type === 'snapshot') {
    const { meta, view, seq, here } = frame
    Object.assign(state, { meta, view, seq, here, storageError: here?.storageError ?? null })
    const transcript = createTranscript(frame.messages, view.collapsed)
    Object.assign(loaded, { transcript, before: frame.before, loading: null })
  } else if (frame.type === 'record') {
    if (frame.record.seq <= state.seq) return false // the last snapshot includes it
    state.seq = frame.record.seq
    if (frame.record.event.type === 'line.moved') return true
    loaded.transcript.add(frame.record)
    if (state.view) state.view = addToView(state.view, frame.record)
    if (state.meta && state.view) state.meta = addToMeta(state.meta, state.view, frame.record)
  } else if (frame.type === 'delta' || frame.type === 'draft') loaded.transcript.addLive(frame)
  else if (frame.type === 'presence') state.presence = frame.clients
  else if (frame.type === 'storage') {
    state.storageError = frame.error
    state.here = state.here && { ...state.here, storageError: frame.error }
  } else if (frame.type === 'model') state.here = state.here && withModelStatus(state.here, frame)
  else if (frame.type === 'child') state.here = state.here && withChildFrame(state.here, frame)
  return false
}

const endedBy = (frame: FrameOf<'end'>, known: Connection): Connection =>
  known.state === 'ended'
    ? known
    : { state: 'ended', fault: fault('session_stopped', `The session ended: ${frame.reason}.`) }

/** Returns whether workspace trust, which is not in the log, may have changed. */
const changesWorkspaceTrust = (frame: Frame): boolean =>
  frame.type === 'record' && ['trust.granted', 'trust.revoked'].includes(frame.record.event.type)
