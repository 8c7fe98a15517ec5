import { foreignAttachment, type LocalSession } from '@holdfast/core'
import type { Clock, OnProblem } from '@holdfast/core/ports'
import {
  type Authority,
  ClientId,
  type Fault,
  type Frame,
  fault,
  limits,
  ok,
  type Result,
  Role,
  refuse,
  type SessionId,
} from '@holdfast/protocol'
import type { LiveTokens } from '../../tokens/live-tokens.ts'
import { type Caller, watchCaller } from '../auth/access.ts'

export type Attachments = ReturnType<typeof createAttachments>

type Attachment = {
  /** The caller that made it. No other may use its name. */
  readonly owner: string
  readonly streams: Set<AbortController>
  /** Each leaves a place that was taken for a subscription which is about to begin. */
  readonly seats: Set<() => void>
  /** Ends the subscription of an opened attachment. */
  subscription: AbortController | null
  /** How long it stays without a stream. */
  keptMs: number
  /** Cancels the deadline of an attachment without a stream. */
  cancelDeadline: () => void
  /** Stops watching the token of its caller. */
  readonly release: () => void
}

type OpenRequest = {
  readonly client: ClientId
  readonly role?: Role | undefined
  /** How long it stays without a stream. */
  readonly keptMs?: number | undefined
}

type AttachedStream = { readonly left: AbortSignal; end(): void }

type AttachmentsDeps = {
  readonly after: Clock['after']
  /** Watches a stored token: its attachments end with it. */
  readonly watchToken: (id: string) => ReturnType<LiveTokens['watch']>
  /** Aborts when the server starts to close: all clients are then detached. */
  readonly closing: AbortSignal
  readonly onProblem: OnProblem
}

/** Parses a requested role. Refused: invalid_role. */
export function readRole(role: string | undefined): Result<Role | undefined> {
  const parsed = Role.optional().safeParse(role)
  if (parsed.success) return ok(parsed.data)
  return refuse(fault('invalid_role', `Unknown role ${role}. Use driver or viewer.`))
}

/** The name of those who command without an attachment. Nobody may attach under it: it would shut all of them out. */
export const unattachedClient = ClientId.parse('token:driver')

/**
 * The clients attached to sessions. An opened attachment has a subscription of its own, so it outlives its streams for a
 * while; a client that only streams is attached as long as its stream.
 */
export function createAttachments({ after, watchToken, closing, onProblem }: AttachmentsDeps) {
  const all = new Map<string, Attachment>()
  const nothing = () => undefined

  const findOrAdd = (key: string, caller: Caller | null): Attachment => {
    const known = all.get(key)
    if (known) return known
    const watch = watchCaller(watchToken, caller)
    const one: Attachment = {
      owner: idOf(caller),
      streams: new Set(),
      seats: new Set(),
      subscription: null,
      cancelDeadline: nothing,
      keptMs: limits.detachedClientMs,
      release: watch?.release ?? nothing,
    }
    all.set(key, one)
    watch?.ended.addEventListener('abort', () => remove(key, one), { once: true })
    return one
  }
  const remove = (key: string, one: Attachment) => {
    if (all.get(key) === one) all.delete(key)
    one.cancelDeadline()
    one.release()
    one.subscription?.abort()
    for (const leaveSeat of one.seats) leaveSeat()
    for (const stream of one.streams) stream.abort()
  }
  /** Sets the deadline of an attachment without a stream, and removes one without a subscription too. */
  const update = (key: string, one: Attachment) => {
    one.cancelDeadline()
    one.cancelDeadline = nothing
    if (one.streams.size > 0 || all.get(key) !== one) return
    if (one.subscription === null) return remove(key, one)
    one.cancelDeadline = after(one.keptMs, () => remove(key, one))
    all.delete(key) // keeps the map in the order in which attachments lost their streams
    all.set(key, one)
    // Each caller has its own places: a flood by another one must not end this attachment, and set its name free.
    const waiting = [...all].filter(([, { streams, owner }]) => streams.size === 0 && owner === one.owner)
    for (const [oldestKey, oldest] of waiting.slice(0, -limits.detachedClientsMax)) remove(oldestKey, oldest)
  }
  /** Returns a fault if another caller made the attachment, or nobody may. */
  const findForeign = (session: SessionId, client: ClientId | undefined, caller: Caller | null): Fault | null => {
    if (client === unattachedClient) return foreignAttachment(client)
    const one = client === undefined ? undefined : all.get(keyOf(session, client))
    if (client === undefined || one === undefined || one.owner === idOf(caller)) return null
    return foreignAttachment(client)
  }
  closing.addEventListener('abort', () => {
    for (const [key, one] of all) remove(key, one)
  })

  return {
    findForeign,

    /** Returns whether the client is attached, or is about to be. */
    has: (session: SessionId, client: ClientId): boolean => all.has(keyOf(session, client)),

    /** Attaches a client before it has a stream. Opening again may ask for another role, or to be kept for longer. */
    async open(
      handle: LocalSession,
      { client, role, keptMs = limits.detachedClientMs }: OpenRequest,
      caller: Caller | null,
    ): Promise<Result<Role>> {
      const foreign = findForeign(handle.id, client, caller)
      if (foreign) return refuse(foreign)
      const key = keyOf(handle.id, client)
      const reserved = findOrAdd(key, caller) // the name is taken at once
      // The session may run in another process, which knows the clients that attached there.
      const seat = await handle.attach({ client, role, caller: authorityOf(caller) })
      if (!seat.ok) {
        update(key, reserved)
        return seat
      }
      const leaveSeat = () => void seat.value.detach()
      if (all.get(key) === reserved) reserved.seats.add(leaveSeat)
      else leaveSeat() // the client left meanwhile
      const subscription = new AbortController()
      const attached = Promise.withResolvers<Role | null>()
      const follow = async () => {
        const asked = { client, role, caller: authorityOf(caller), signal: subscription.signal }
        for await (const frame of handle.subscribe(asked)) {
          const own = clientsIn(frame).find((one) => one.client === client)
          if (own) attached.resolve(own.role)
        }
      }
      follow()
        .catch((cause: unknown) => onProblem({ where: `attaching ${client} to ${handle.id}`, cause }))
        .finally(() => {
          attached.resolve(null)
          const one = all.get(key)
          if (one?.subscription !== subscription) return
          one.subscription = null
          update(key, one)
        })

      const given = await attached.promise
      leaveSeat() // the subscription has the place now
      reserved.seats.delete(leaveSeat)
      if (given === null || closing.aborted) {
        subscription.abort()
        update(key, reserved)
        return refuse(fault('session_stopped', 'The session stopped before the client was attached. Try again.'))
      }
      const taken = findForeign(handle.id, client, caller) // the name was free meanwhile, if its first attachment left
      if (taken) {
        subscription.abort()
        return refuse(taken)
      }
      const one = findOrAdd(key, caller)
      one.subscription?.abort()
      one.subscription = subscription
      one.keptMs = keptMs
      update(key, one)
      return ok(given)
    },

    /**
     * Registers a stream of the client. `left` aborts when the client leaves; call `end` when the stream is over.
     * Refused: foreign_attachment.
     */
    stream(session: SessionId, client: ClientId, caller: Caller | null): Result<AttachedStream> {
      const foreign = findForeign(session, client, caller)
      if (foreign) return refuse(foreign)
      const key = keyOf(session, client)
      const one = findOrAdd(key, caller)
      const left = new AbortController()
      one.streams.add(left)
      update(key, one)
      return ok({
        left: left.signal,
        end() {
          if (one.streams.delete(left)) update(key, one)
        },
      })
    },

    /** Detaches the client and ends its streams. Refused: not_subscribed, foreign_attachment. */
    leave(session: SessionId, client: ClientId, caller: Caller | null): Result<null> {
      const foreign = findForeign(session, client, caller)
      if (foreign) return refuse(foreign)
      const key = keyOf(session, client)
      const one = all.get(key)
      if (!one) return refuse(fault('not_subscribed', `${client} is not attached to this session.`, { client }))
      remove(key, one)
      return ok(null)
    },
  }
}

/** Returns what the token or login of a client lets it do. */
export const authorityOf = (caller: Caller | null): Authority => ({
  person: idOf(caller),
  mayDrive: caller !== null && caller.role !== 'viewer',
  isAdmin: caller?.role === 'admin',
})

export const idOf = (caller: Caller | null): string => caller?.id ?? ''

const keyOf = (session: SessionId, client: ClientId): string => `${session} ${client}`

/** Returns the attached clients that a frame lists, if it does. */
function clientsIn(frame: Frame): readonly { readonly client: ClientId; readonly role: Role }[] {
  if (frame.type === 'presence') return frame.clients
  return frame.type === 'snapshot' ? (frame.here?.clients ?? []) : []
}
