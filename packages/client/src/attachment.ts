import {
  type AttachOptions,
  createCommandId,
  createSerialQueue,
  fault,
  HoldfastError,
  orThrow,
  type Role,
  type SessionHandle,
  type Sessions,
  type StartOptions,
} from '@holdfast/protocol'
import type { FollowOptions } from './http/follow-stream.ts'
import { createClientSession, type Session } from './session/session.ts'

/** How an attachment moves to another session. */
export type MoveOptions = {
  /** Whether a running turn blocks the move or is aborted. */
  readonly running?: 'refuse' | 'abort' | undefined
}

/**
 * A client's attachment that can move to another session. The old session does not change; the new one has its own
 * history, branches, model and metadata.
 */
export interface Attachment {
  /** The id of this client, the same in every session it attaches to. */
  readonly client: string
  /** The current session, bound to this client. Subscribe to `handle` to attach it. */
  readonly session: Session
  /** A handle that moves along: its subscribers get the snapshot of the new session, in the same role if possible. */
  readonly handle: SessionHandle
  /** Moves to a session, by id, unique prefix or handle. */
  loadSession(name: string, options?: MoveOptions): Promise<Session>
  /** Moves to a new session, by default with the same folder and model. */
  newSession(options?: Partial<StartOptions> & MoveOptions): Promise<Session>
}

type Current = {
  readonly handle: SessionHandle
  readonly left: AbortController
  /** The role on the previous session, to request again. */
  readonly role: Role | undefined
}

/** Attaches to a session. Throws a refusal as a `HoldfastError`. */
export async function attach(sessions: Sessions, name: string, options: AttachOptions = {}): Promise<Attachment> {
  return createAttachment(sessions, orThrow(await sessions.open(name)), options)
}

/** Creates the attachment of a client that may move from session to session. */
export function createAttachment(
  sessions: Sessions,
  first: SessionHandle,
  { client = createCommandId(), role, mayDrive }: AttachOptions = {},
): Attachment {
  let current: Current = { handle: first, left: new AbortController(), role }
  /** Commands are sent in the client's name, so that a viewer's are refused. */
  const sessionOf = (handle: SessionHandle) =>
    createClientSession(handle, { client, role: current.role ?? 'driver', mayDrive: mayDrive ?? false })
  /** Runs one move at a time. */
  const inTurn = createSerialQueue()

  /** Returns the current state, once the session can be left. */
  async function readyToLeave({ running = 'refuse' }: MoveOptions) {
    const { handle } = current
    const state = orThrow(await handle.state(['meta', 'here', 'activity', 'model', 'thinkingLevel']))
    const attached = state.here?.clients.find((one) => one.client === client)
    const { activity } = state
    if (activity !== 'idle' && activity !== 'error') {
      if (running === 'refuse') throw new HoldfastError(stillRunning)
      orThrow(await handle.submit({ type: 'abort' }, attached ? { as: client } : {}))
    }
    return { ...state, role: attached?.role }
  }

  function moveTo(handle: SessionHandle, had: Role | undefined): Session {
    const { left, role: asked } = current
    current = { handle, left: new AbortController(), role: had ?? asked }
    left.abort()
    return sessionOf(handle)
  }

  const handle: SessionHandle = {
    get id() {
      return current.handle.id
    },
    submit: (command, options) => current.handle.submit(command, options),
    attach: (options) => current.handle.attach({ client, ...options }),
    snapshot: () => current.handle.snapshot(),
    state: (fields) => current.handle.state(fields),
    page: (request) => current.handle.page(request),
    clientEvents: (request) => current.handle.clientEvents(request),
    fileChanges: (request) => current.handle.fileChanges(request),
    diffChanges: (request) => current.handle.diffChanges(request),
    previewRestore: (request) => current.handle.previewRestore(request),
    readFile: (request) => current.handle.readFile(request),
    boundaries: () => current.handle.boundaries(),
    backgroundShells: () => current.handle.backgroundShells(),
    servers: () => current.handle.servers(),
    skills: () => current.handle.skills(),
    instructionFiles: () => current.handle.instructionFiles(),
    commands: () => current.handle.commands(),
    branches: () => current.handle.branches(),
    blob: (...asked) => current.handle.blob(...asked),
    models: () => current.handle.models(),
    subagents: () => current.handle.subagents(),
    subagentContext: () => current.handle.subagentContext(),
    treeUsage: () => current.handle.treeUsage(),
    async *subscribe(options: FollowOptions = {}) {
      let asked: FollowOptions = { client, role, mayDrive, ...options }
      for (;;) {
        const here = current
        const signals = options.signal ? [options.signal, here.left.signal] : [here.left.signal]
        yield* here.handle.subscribe({ ...asked, signal: AbortSignal.any(signals) })
        if (here === current || options.signal?.aborted) return
        asked = { ...asked, after: undefined, role: current.role }
      }
    },
  }

  return {
    client,
    handle,
    get session() {
      return sessionOf(current.handle)
    },
    loadSession: (name, options = {}) =>
      inTurn(async () => {
        const next = orThrow(await sessions.open(name))
        if (next.id === current.handle.id) return sessionOf(current.handle)
        const { role: had } = await readyToLeave(options)
        return moveTo(next, had)
      }),
    newSession: ({ running, ...given } = {}) =>
      inTurn(async () => {
        const { meta, model, thinkingLevel, role: had } = await readyToLeave({ running })
        const next = orThrow(await sessions.start({ workdir: meta.workspace, model, thinkingLevel, ...given }))
        return moveTo(next, had)
      }),
  }
}

const stillRunning = fault('turn_running', 'A turn is running in the current session. Abort it or wait until it ends.')
