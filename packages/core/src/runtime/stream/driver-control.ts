import { type Authority, type ClientId, type Fault, type FrameOf, fault, type Role } from '@holdfast/protocol'
import type { ProcessRequest } from '../../session/input.ts'

/** Knows the named clients of a session and which of them drives: at most one. A client may hold several subscriptions. */
export interface DriverControl {
  readonly all: FrameOf<'presence'>['clients']
  /**
   * Attaches a client. The first one drives, unless it asks to view; a driver that asks to view gives up control. Returns
   * false, and changes nothing, if another token or login attached it: names are no secret, so a name gives no control.
   */
  attach(client: ClientId, asked: Role | undefined, authority?: Authority): boolean
  detach(client: ClientId): void
  roleOf(client: ClientId): Role | null
  /** Returns whether another token or login attached this client. */
  isForeign(client: ClientId, person: string): boolean
  /** Returns a fault unless `client` may command: the driver may; without a driver, any client that is not attached. */
  refusal(client: ClientId): Fault | null
  /** Returns a fault unless `client` may abort: who may command, and a viewer who may drive. */
  abortRefusal(client: ClientId): Fault | null
  /** Answers a driver request. Only a client with a name can take or give control. */
  answer(request: DriverRequest, by: ClientId | null): Fault | null
}

type DriverRequest = Extract<ProcessRequest, { type: 'claimDriver' | 'handOver' }>

const noAuthority: Authority = { person: null, mayDrive: false, isAdmin: false }

export function createDriverControl(changed: () => void): DriverControl {
  const clients = new Map<ClientId, { role: Role; subscriptions: number; authority: Authority }>()
  const driver = (): ClientId | null => [...clients].find(([, { role }]) => role === 'driver')?.[0] ?? null

  const setRole = (client: ClientId, role: Role) => {
    const one = clients.get(client)
    if (!one || one.role === role) return
    one.role = role
    changed()
  }

  function refusal(client: ClientId): Fault | null {
    const one = clients.get(client)
    const who = driver()
    if (one ? one.role === 'driver' : who === null) return null
    const vacant = one?.authority.mayDrive === false ? mayOnlyWatch : 'Nobody drives this session. Claim control first.'
    const message = who === null ? vacant : `${who} drives this session. You are only watching it.`
    return fault('not_driver', message, { driver: who })
  }

  function claim(client: ClientId, takeOver: boolean): Fault | null {
    const one = clients.get(client)
    if (!one) return notSubscribed(client)
    const who = driver()
    if (who === client) return null
    if (!one.authority.mayDrive) return fault('not_driver', mayOnlyWatch, { driver: who })
    const other = who === null ? undefined : clients.get(who)
    if (!other) {
      setRole(client, 'driver')
      return null
    }
    if (!takeOver) return fault('driver_taken', `${who} drives this session. Take over, or ask it.`, { driver: who })
    if (!one.authority.isAdmin && one.authority.person !== other.authority.person)
      return fault('driver_taken', `${who} drives this session for someone else. Only an admin may take over.`, {
        driver: who,
      })
    other.role = 'viewer'
    setRole(client, 'driver') // one change, so that nobody sees a session without a driver
    return null
  }

  function handOver(from: ClientId, to: ClientId): Fault | null {
    if (!clients.has(from)) return notSubscribed(from)
    if (driver() !== from) return refusal(from)
    const receiver = clients.get(to)
    if (!receiver) return notSubscribed(to)
    if (!receiver.authority.mayDrive) return fault('not_driver', `${to} may only watch this session.`, { driver: from })
    setRole(from, 'viewer')
    setRole(to, 'driver')
    return null
  }

  return {
    get all() {
      return [...clients].map(([client, { role }]) => ({ client, role }))
    },

    attach(client, asked, authority = noAuthority) {
      const known = clients.get(client)
      if (known && known.authority.person !== authority.person) return false
      const role = asked === 'viewer' ? 'viewer' : driver() === null || driver() === client ? 'driver' : 'viewer'
      if (known) {
        known.subscriptions += 1
        if (authority.mayDrive) known.authority = authority
      } else clients.set(client, { role, subscriptions: 1, authority })
      if (known && asked !== undefined) known.role = role
      changed()
      return true
    },

    detach(client) {
      const one = clients.get(client)
      if (!one) return
      one.subscriptions -= 1
      if (one.subscriptions > 0) return
      clients.delete(client)
      changed()
    },

    roleOf: (client) => clients.get(client)?.role ?? null,
    isForeign(client, person) {
      const one = clients.get(client)
      return one !== undefined && one.authority.person !== person
    },
    refusal,
    abortRefusal: (client) => (clients.get(client)?.authority.mayDrive ? null : refusal(client)),
    answer(request, by) {
      if (by === null) return nameless
      return request.type === 'claimDriver' ? claim(by, request.takeOver ?? false) : handOver(by, request.client)
    },
  }
}

const nameless = fault(
  'not_subscribed',
  'Only an attached client can take or give control. Name the client that sends this.',
)

const mayOnlyWatch = 'You may only watch this session. Attach with `mayDrive`, or use a token that may drive.'

/** Returns the fault for a client that has no seat. */
export const notSubscribed = (client: ClientId): Fault =>
  fault('not_subscribed', `${client} is not attached to this session.`, { client })

/** Returns the fault for a client that another caller attached. */
export const foreignAttachment = (client: ClientId): Fault =>
  fault('foreign_attachment', `${client} is attached by another caller. Use another name.`, { client })

/** Who joins; a client without a name is counted, and never drives. */
export type AttachedClient = {
  readonly client: ClientId | null
  readonly role?: Role | undefined
  readonly authority?: Authority | undefined
}
