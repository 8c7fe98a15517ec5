import {
  type AttachOptions,
  ClientId,
  createCommandId,
  explainIssue,
  type Fault,
  fault,
  ok,
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
export async function takeRemoteSeat(
  { wire, handle, submit }: SeatDeps,
  { client: asked = createCommandId(), role }: AttachOptions,
): Promise<Result<Seat>> {
  const named = ClientId.safeParse(asked)
  if (!named.success) return refuse(fault('bad_request', `client: ${explainIssue(named.error)}.`))
  const client = named.data
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
      isDetached = true
      // A token that may only read cannot ask the server; closing the stream detaches it too.
      const left = await wire.json(`/v1/sessions/${handle.id}/attachments/${encodeURIComponent(client)}`, {
        method: 'DELETE',
      })
      if (!left.ok) held.leave()
      await held.ended
    },
  })
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
