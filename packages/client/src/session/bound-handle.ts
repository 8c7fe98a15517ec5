import {
  type AttachOptions,
  type Fault,
  type Frame,
  fault,
  ok,
  orThrow,
  type Result,
  type Role,
  refuse,
  type Seat,
  type SessionHandle,
} from '@holdfast/protocol'

/** Returns the handle in the name of a client: it sends commands, subscribes and attaches under this name. */
export const bindClient = (handle: SessionHandle, client: string): SessionHandle => ({
  ...handle,
  submit: (command, options = {}) => handle.submit(command, { ...options, as: options.as ?? client }),
  subscribe: (options = {}) => handle.subscribe({ ...options, client: options.client ?? client }),
  attach: (options = {}) => handle.attach({ ...options, client: options.client ?? client }),
})

/** What a client got when it was attached. Its own session cannot give it more. */
export type ClientRights = { readonly client: string; readonly role: Role; readonly mayDrive: boolean }

/**
 * Returns the handle in the name of a client that got these rights: whoever holds it cannot act for another client, or
 * widen the rights. `left` ends its subscriptions, and refuses later ones and later seats.
 */
export function confineClient(handle: SessionHandle, rights: ClientRights, left?: AbortSignal): SessionHandle {
  const bound = bindClient(handle, rights.client)
  async function allow<Asked extends AttachOptions>(asked: Asked): Promise<Result<Asked>> {
    if (left?.aborted) return refuse(notAttached(rights.client))
    return keepWithin(handle, rights, asked)
  }
  return {
    ...bound,
    async submit(command, options = {}) {
      if (isOther(rights.client, options.as)) return refuse(otherClient(rights.client, options.as))
      return bound.submit(command, options)
    },
    async attach(asked = {}) {
      const allowed = await allow(asked)
      return allowed.ok ? bound.attach(allowed.value) : allowed
    },
    subscribe(asked = {}) {
      const closed = new AbortController()
      const signals = [closed.signal, asked.signal, left].filter((signal) => signal !== undefined)
      async function* read(): AsyncGenerator<Frame> {
        // A subscription cannot return a refusal, so its first step throws it.
        const allowed = orThrow(await allow(asked))
        yield* bound.subscribe({ ...allowed, signal: AbortSignal.any(signals) })
      }
      const frames = read()
      const leave = () => {
        closed.abort() // a generator ends only after the step that it waits for
        return frames.return(undefined)
      }
      return { [Symbol.asyncIterator]: () => ({ next: () => frames.next(), return: leave }) }
    },
  }
}

/** The handle of an attached client, and the end of both its seat and its subscriptions. */
export type BoundSeat = { readonly handle: SessionHandle; detach(): Promise<void> }

/**
 * Binds a handle to an attached client. When the client detaches, its subscriptions end, because each of them would keep
 * it attached. Later commands, subscriptions and seats are refused: not_subscribed.
 */
export function bindSeat(handle: SessionHandle, seat: Seat, { mayDrive = false }: AttachOptions = {}): BoundSeat {
  const { client, role, submit, detach } = seat
  const left = new AbortController()
  return {
    handle: { ...confineClient(handle, { client, role, mayDrive }, left.signal), submit },
    detach() {
      left.abort()
      return detach()
    },
  }
}

/** Returns what a bound session asks for in the name of its client, or refuses what goes beyond its rights. */
async function keepWithin<Asked extends AttachOptions>(
  handle: SessionHandle,
  { client, role, mayDrive }: ClientRights,
  asked: Asked,
): Promise<Result<Asked>> {
  if (isOther(client, asked.client)) return refuse(otherClient(client, asked.client))
  if (mayDrive) return ok(asked)
  if (asked.mayDrive || (asked.role === 'driver' && role === 'viewer')) return refuse(widens(client, role))
  if (asked.role === 'viewer') return ok(asked)
  // A client that is attached keeps its role if it asks for none. One whose seat was lost, because the session stopped,
  // would get the seat of the driver.
  const isLost = role === 'viewer' && !(await isAttached(handle, client))
  return ok({ ...asked, role: isLost ? 'viewer' : undefined })
}

async function isAttached(handle: SessionHandle, client: string): Promise<boolean> {
  const state = await handle.state(['here'])
  return state.ok && state.value.here?.clients.some((one) => one.client === client) === true
}

const notAttached = (client: string): Fault =>
  fault('not_subscribed', `${client} is not attached to this session.`, { client })

const isOther = (client: string, named: string | undefined): named is string => named !== undefined && named !== client

const otherClient = (client: string, other: string): Fault =>
  fault('bad_request', `This session is attached as ${client}. Use another one for ${other}.`)

const widens = (client: string, role: Role): Fault =>
  fault(
    'not_driver',
    `${client} was attached as a ${role} without \`mayDrive\`, and its session cannot give it more. Attach it again from a session that is not bound to a client.`,
    { client },
  )
