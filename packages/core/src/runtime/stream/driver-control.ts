import { type ClientId, type Command, type Fault, type FrameOf, fault, type Role } from '@holdfast/protocol'

type Seated = FrameOf<'presence'>['clients']

/** Who is attached to a session and who of them drives: at most one. A client may hold several subscriptions. */
export interface DriverControl {
  readonly all: Seated
  /** Seats a client: the first to come drives, unless it asks to view. One that asks to view gives up the seat. */
  sit(client: ClientId, asked: Role | undefined): void
  leave(client: ClientId): void
  roleOf(client: ClientId): Role | null
  /** Why `client` may not command, or null when it may: the driver, and while nobody drives whoever is not attached. */
  refusal(client: ClientId): Fault | null
  claim(client: ClientId): Fault | null
  handOver(from: ClientId, to: ClientId): Fault | null
}

export function createDriverControl(changed: () => void): DriverControl {
  const held = new Map<ClientId, { role: Role; holds: number }>()
  const driver = (): ClientId | null => [...held].find(([, seat]) => seat.role === 'driver')?.[0] ?? null

  const give = (client: ClientId, role: Role) => {
    const seat = held.get(client)
    if (!seat || seat.role === role) return
    seat.role = role
    changed()
  }

  return {
    get all() {
      return [...held].map(([client, { role }]) => ({ client, role }))
    },

    sit(client, asked) {
      const seat = held.get(client)
      const role = asked === 'viewer' ? 'viewer' : driver() === null || driver() === client ? 'driver' : 'viewer'
      if (seat) seat.holds += 1
      else held.set(client, { role, holds: 1 })
      if (seat && asked !== undefined) seat.role = role
      changed()
    },

    leave(client) {
      const seat = held.get(client)
      if (!seat) return
      seat.holds -= 1
      if (seat.holds > 0) return
      held.delete(client)
      changed()
    },

    roleOf: (client) => held.get(client)?.role ?? null,

    refusal(client) {
      const seat = held.get(client)
      const who = driver()
      if (seat ? seat.role === 'driver' : who === null) return null
      const message =
        who === null
          ? 'Nobody drives this session; claim the seat first.'
          : `${who} drives this session; you are watching it.`
      return fault('not_driver', message, { driver: who })
    },

    claim(client) {
      if (!held.has(client)) return notSubscribed(client)
      const who = driver()
      if (who !== null && who !== client) return fault('driver_taken', `${who} drives this session.`, { driver: who })
      give(client, 'driver')
      return null
    },

    handOver(from, to) {
      if (!held.has(from)) return notSubscribed(from)
      if (driver() !== from) return this.refusal(from)
      if (!held.has(to)) return notSubscribed(to)
      give(from, 'viewer')
      give(to, 'driver')
      return null
    },
  }
}

const notSubscribed = (client: ClientId): Fault =>
  fault('not_subscribed', `${client} is not attached to this session.`, { client })

/** Who joins; one without a name takes no seat. */
export type AttachedClient = { readonly client: ClientId | null; readonly role?: Role | undefined }

/** Counts who is attached: a client once, however many subscriptions it holds, and each that has no name. */
interface Attachments {
  readonly count: number
  /** Takes a seat; what is returned gives it back, and does so once. */
  come(who: AttachedClient): () => void
}

export function createAttachments(seats: DriverControl, changed: () => void): Attachments {
  let nameless = 0
  return {
    get count() {
      return seats.all.length + nameless
    },
    come({ client, role }) {
      let isIn = true
      if (client === null) nameless += 1
      else seats.sit(client, role)
      changed()
      return () => {
        if (!isIn) return
        isIn = false
        if (client === null) nameless -= 1
        else seats.leave(client)
        changed()
      }
    },
  }
}

/**
 * Whether the one who commands may: null when so. The seat commands are carried out here, because who sits where is not on
 * record. A command without a name is the embedding program's own word.
 */
export function driverFault(seats: DriverControl, by: ClientId | null, command: Command): Fault | null {
  switch (command.type) {
    case 'claimDriver':
      return by === null ? nameless : seats.claim(by)
    case 'handOver':
      return by === null ? nameless : seats.handOver(by, command.client)
    default:
      return by === null ? null : seats.refusal(by)
  }
}

const nameless = fault(
  'not_subscribed',
  'Only a client that is attached can take or give the wheel: say which one you are.',
)
