import type { Clock, OnProblem } from '@holdfast/core/ports'
import {
  type ClientId,
  type Frame,
  fault,
  limits,
  ok,
  type Result,
  type Role,
  refuse,
  type SessionHandle,
  type SessionId,
} from '@holdfast/protocol'

/**
 * The attachments of this server. One that was opened holds a seat by a subscription of the server's own, so that it
 * outlives its streams by a while; one that only streams comes and goes with its stream.
 */
export interface Attachments {
  /** Seats a client before it has a stream. Opened again, it may ask for another role. */
  open(handle: SessionHandle, client: ClientId, role: Role | undefined): Promise<Result<Role>>
  /** A stream of the client begins. `left` aborts when the client leaves; `end` is called when the stream is over. */
  stream(session: SessionId, client: ClientId): { readonly left: AbortSignal; end(): void }
  /** The client leaves: its seat is free and its streams end. Refused: not_subscribed. */
  leave(session: SessionId, client: ClientId): Result<null>
}

type Attachment = {
  readonly streams: Set<AbortController>
  /** What keeps the seat, and the deadline of that while there is no stream. */
  hold: AbortController | null
  stopWaiting: () => void
}

export type AttachmentsDeps = {
  readonly after: Clock['after']
  /** Aborts when the server is about to close: then it keeps no seats. */
  readonly closing: AbortSignal
  readonly onProblem: OnProblem
}

export function createAttachments({ after, closing, onProblem }: AttachmentsDeps): Attachments {
  const all = new Map<string, Attachment>()
  const nothing = () => undefined

  const entryFor = (key: string): Attachment => {
    const one = all.get(key) ?? { streams: new Set(), hold: null, stopWaiting: nothing }
    all.set(key, one)
    return one
  }
  const drop = (key: string, one: Attachment) => {
    if (all.get(key) === one) all.delete(key)
    one.stopWaiting()
    one.hold?.abort()
    for (const stream of one.streams) stream.abort()
  }
  /** Without a stream the seat has a deadline, and without a seat there is nothing to keep. */
  const settle = (key: string, one: Attachment) => {
    one.stopWaiting()
    one.stopWaiting = nothing
    if (one.streams.size > 0 || all.get(key) !== one) return
    if (one.hold === null) return drop(key, one)
    one.stopWaiting = after(limits.detachedClientMs, () => drop(key, one))
    all.delete(key) // so that those that wait stand in the order in which they began to
    all.set(key, one)
    const waiting = [...all].filter(([, { streams }]) => streams.size === 0)
    for (const [oldestKey, oldest] of waiting.slice(0, -limits.detachedClientsMax)) drop(oldestKey, oldest)
  }
  closing.addEventListener('abort', () => {
    for (const [key, one] of all) drop(key, one)
  })

  return {
    async open(handle, client, role) {
      const key = keyOf(handle.id, client)
      const hold = new AbortController()
      const seated = Promise.withResolvers<Role | null>()
      const sit = async () => {
        for await (const frame of handle.subscribe({ client, role, signal: hold.signal })) {
          const seat = clientsIn(frame).find((one) => one.client === client)
          if (seat) seated.resolve(seat.role)
        }
      }
      sit()
        .catch((cause: unknown) => onProblem({ where: `attaching ${client} to ${handle.id}`, cause }))
        .finally(() => {
          seated.resolve(null)
          const one = all.get(key)
          if (one?.hold !== hold) return
          one.hold = null
          settle(key, one)
        })

      const given = await seated.promise
      if (given === null || closing.aborted) {
        hold.abort()
        return refuse(fault('session_stopped', 'The session ended before anyone could be attached. Try again.'))
      }
      const one = entryFor(key)
      one.hold?.abort()
      one.hold = hold
      settle(key, one)
      return ok(given)
    },

    stream(session, client) {
      const key = keyOf(session, client)
      const one = entryFor(key)
      const left = new AbortController()
      one.streams.add(left)
      settle(key, one)
      return {
        left: left.signal,
        end() {
          if (one.streams.delete(left)) settle(key, one)
        },
      }
    },

    leave(session, client) {
      const key = keyOf(session, client)
      const one = all.get(key)
      if (!one) return refuse(fault('not_subscribed', `${client} is not attached to this session.`, { client }))
      drop(key, one)
      return ok(null)
    },
  }
}

const keyOf = (session: SessionId, client: ClientId): string => `${session} ${client}`

/** Whom a frame says to be attached, if it says so. */
function clientsIn(frame: Frame): readonly { readonly client: ClientId; readonly role: Role }[] {
  if (frame.type === 'presence') return frame.clients
  return frame.type === 'snapshot' ? (frame.here?.clients ?? []) : []
}
