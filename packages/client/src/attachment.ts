import {
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
import { createSession, type Session } from './session/session.ts'

export type AttachOptions = {
  /** Who attaches; the same name after a reconnect is the same client. Made up when absent. */
  readonly client?: string | undefined
  /** `viewer` only watches; without it the first to come drives. */
  readonly role?: Role | undefined
}

export type MoveOptions = {
  /** What becomes of a turn that runs where it stands: the move is refused, or the turn aborted. */
  readonly running?: 'refuse' | 'abort' | undefined
}

/**
 * A client's hold on a session that can be moved to another. The session that is left stays as it is, stored under its id;
 * the one that is taken up brings its own history, branches, model and metadata.
 */
export interface Attachment {
  readonly client: string
  /** The session it stands on now. */
  readonly session: Session
  /** A handle that moves along: who subscribes to it is shown the new session from its snapshot on, in the same role if that is free. */
  readonly handle: SessionHandle
  /** By id, a unique prefix of it, or handle. */
  loadSession(name: string, options?: MoveOptions): Promise<Session>
  /** A new session, in the same folder and with the same model unless told otherwise. */
  newSession(options?: Partial<StartOptions> & MoveOptions): Promise<Session>
}

type Place = {
  readonly handle: SessionHandle
  readonly left: AbortController
  /** The role it had on the session before, to be taken again. */
  readonly role: Role | undefined
}

/** Attaches to a session of a place, in this process or across the network. A refusal is thrown as a `HoldfastError`. */
export async function attach(sessions: Sessions, name: string, options: AttachOptions = {}): Promise<Attachment> {
  return createAttachment(sessions, orThrow(await sessions.open(name)), options)
}

export function createAttachment(
  sessions: Sessions,
  first: SessionHandle,
  { client = createCommandId(), role }: AttachOptions = {},
): Attachment {
  let place: Place = { handle: first, left: new AbortController(), role }
  /** One move at a time, each from where the one before it arrived. */
  const inTurn = createSerialQueue()

  /** Where it stands, once it may leave. */
  async function readyToLeave({ running = 'refuse' }: MoveOptions) {
    const { handle } = place
    const snapshot = orThrow(await handle.snapshot())
    const seat = snapshot.here?.clients.find((one) => one.client === client)
    const { activity } = snapshot.view
    if (activity !== 'idle' && activity !== 'error') {
      if (running === 'refuse') throw new HoldfastError(stillRunning)
      orThrow(await handle.submit({ type: 'abort' }, seat ? { as: client } : {}))
    }
    return { ...snapshot, role: seat?.role }
  }

  function moveTo(handle: SessionHandle, had: Role | undefined): Session {
    const { left, role: asked } = place
    place = { handle, left: new AbortController(), role: had ?? asked }
    left.abort()
    return createSession(handle)
  }

  const handle: SessionHandle = {
    get id() {
      return place.handle.id
    },
    submit: (command, options) => place.handle.submit(command, options),
    snapshot: () => place.handle.snapshot(),
    page: (request) => place.handle.page(request),
    branches: () => place.handle.branches(),
    blob: (...asked) => place.handle.blob(...asked),
    models: () => place.handle.models(),
    treeUsage: () => place.handle.treeUsage(),
    async *subscribe(options: FollowOptions = {}) {
      let asked: FollowOptions = { client, role, ...options }
      for (;;) {
        const here = place
        const signals = options.signal ? [options.signal, here.left.signal] : [here.left.signal]
        yield* here.handle.subscribe({ ...asked, signal: AbortSignal.any(signals) })
        if (here === place || options.signal?.aborted) return
        asked = { ...asked, after: undefined, role: place.role }
      }
    },
  }

  return {
    client,
    handle,
    get session() {
      return createSession(place.handle)
    },
    loadSession: (name, options = {}) =>
      inTurn(async () => {
        const next = orThrow(await sessions.open(name))
        if (next.id === place.handle.id) return createSession(place.handle)
        const { role: had } = await readyToLeave(options)
        return moveTo(next, had)
      }),
    newSession: ({ running, ...given } = {}) =>
      inTurn(async () => {
        const { meta, view, role: had } = await readyToLeave({ running })
        const { model, thinkingLevel } = view
        const next = orThrow(await sessions.start({ workdir: meta.workspace, model, thinkingLevel, ...given }))
        return moveTo(next, had)
      }),
  }
}

const stillRunning = fault(
  'turn_running',
  'A turn is running in the session that would be left. Abort it, or wait for its end.',
)
