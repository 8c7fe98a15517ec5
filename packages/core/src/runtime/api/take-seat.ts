import { fault, ok, type Result, refuse, type Seat, type SessionId } from '@holdfast/protocol'
import type { SessionRegistry } from '../registry/session-registry.ts'
import { type AttachedClient, foreignAttachment, notSubscribed } from '../stream/driver-control.ts'
import type { Hub } from '../stream/hub.ts'

/** A client that takes a seat has a name. */
export type SeatedClient = AttachedClient & { readonly client: NonNullable<AttachedClient['client']> }

/** Loads a session and attaches a client that does not subscribe. `send` submits a command of that client. */
export async function takeSeat(
  registry: SessionRegistry,
  id: SessionId,
  who: SeatedClient,
  send: Seat['submit'],
): Promise<Result<Seat>> {
  const { client } = who
  let place: { readonly hub: Hub; readonly leave: () => void } | null = null
  let isDetached = false

  /** Takes the seat again if the session was unloaded or restarted meanwhile. */
  async function sit(): Promise<Result<Hub>> {
    const runner = await registry.load(id)
    if (!runner.ok) return runner
    if (isDetached) return refuse(notSubscribed(client))
    const { hub } = runner.value
    if (place?.hub === hub) return ok(hub)
    const leave = hub.sit(who)
    if (leave === null) return refuse(foreignAttachment(client))
    place = { hub, leave }
    return ok(hub)
  }

  const seated = await sit()
  if (!seated.ok) return seated
  return ok({
    client,
    role: seated.value.drivers.roleOf(client) ?? 'viewer',
    async submit(command, { as, ...options } = {}) {
      if (as !== undefined && as !== client)
        return refuse(fault('bad_request', `This session is attached as ${client}. Use another one for ${as}.`))
      if (isDetached) return refuse(notSubscribed(client))
      const again = await sit()
      return again.ok ? send(command, options) : again
    },
    async detach() {
      isDetached = true
      place?.leave()
    },
  })
}
