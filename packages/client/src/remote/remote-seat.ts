import {
  type AttachOptions,
  ClientId,
  createCommandId,
  type Fault,
  fault,
  ok,
  parseAttachOptions,
  type Result,
  refuse,
  type Seat,
  type SessionHandle,
} from '@holdfast/protocol'
import type { Http } from '../http/http.ts'
import type { RemoteSessionHandle } from './remote-session-handle.ts'

type SeatDeps = {
  readonly wire: Http
  readonly handle: Pick<RemoteSessionHandle, 'id' | 'state' | 'subscribe'>
  readonly submit: SessionHandle['submit']
}

/**
 * Takes a seat over HTTP. A stream holds it, so that it survives a broken connection; the frames of that stream are not
 * used. The token decides whether a viewer may drive.
 */
export async function takeRemoteSeat({ wire, handle, submit }: SeatDeps, asked: AttachOptions): Promise<Result<Seat>> {
  const options = parseAttachOptions(asked)
  if (!options.ok) return options
  const { client = ClientId.parse(createCommandId()), role } = options.value
  const start = await handle.state(['seq'])
  if (!start.ok) return start

  const held = holdStream(handle, { after: start.value.seq, client, role })
  const refusal = await held.joined
  if (refusal) return refuse(refusal)
  const state = await handle.state(['here'])
  if (!state.ok) {
    held.leave()
    return state
  }
  const given = state.value.here?.clients.find((one) => one.client === client)?.role ?? 'viewer'

  const seats = seatsOf(wire)
  const name = `${handle.id} ${client}`
  seats.set(name, (seats.get(name) ?? 0) + 1)
  let isDetached = false
  return ok({
    client,
    role: given,
    async submit(command, { as, ...options } = {}) {
      if (as !== undefined && as !== client)
        return refuse(fault('bad_request', `This session is attached as ${client}. Use another one for ${as}.`))
      if (isDetached) return refuse(fault('not_subscribed', `${client} is not attached to this session.`, { client }))
      return submit(command, { ...options, as: client })
    },
    async detach() {
      if (isDetached) return
      isDetached = true
      const others = (seats.get(name) ?? 1) - 1
      seats.set(name, others)
      // The client stays attached while it has another seat.
      if (others > 0) return held.leave()
      // A token that may only read cannot ask the server; closing the stream detaches it too.
      const left = await wire.json(`/v1/sessions/${handle.id}/attachments/${encodeURIComponent(client)}`, {
        method: 'DELETE',
      })
      if (!left.ok) held.leave()
      await held.ended
    },
  })
}

/** How often each client of a connection is attached, because a server detaches all seats of a client at once. */
const seatCounts = new WeakMap<Http, Map<string, number>>()

function seatsOf(wire: Http): Map<string, number> {
  const known = seatCounts.get(wire) ?? new Map<string, number>()
  seatCounts.set(wire, known)
  return known
}

type Held = {
  /** Resolves with null once the client is attached, or with the reason why it is not. */
  readonly joined: Promise<Fault | null>
  readonly ended: Promise<void>
  leave(): void
}

/** Follows the session without using its frames. */
function holdStream(
  handle: Pick<RemoteSessionHandle, 'subscribe'>,
  options: NonNullable<Parameters<RemoteSessionHandle['subscribe']>[0]>,
): Held {
  const left = new AbortController()
  const joined = Promise.withResolvers<Fault | null>()
  let refused: Fault = fault('session_stopped', 'The session stopped before the client was attached. Try again.')
  const follow = async () => {
    const frames = handle.subscribe({
      ...options,
      signal: left.signal,
      onConnection: (connection) => {
        if (connection.state === 'ended' && connection.fault) refused = connection.fault
      },
    })
    for await (const frame of frames) if (frame.type !== 'end') joined.resolve(null)
    joined.resolve(refused)
  }
  return { joined: joined.promise, ended: follow(), leave: () => left.abort() }
}
