import type { SessionId } from '@holdfast/protocol'
import type { Simulation } from './simulation.ts'

/** Writes down who sat where, whenever the dice may be thrown. */
export type DriverWatch = {
  look(): void
  /** The present moment, to ask about later. */
  moment(): Moment
  /** Whether `client` may have commanded at some time since; the benefit of the doubt if another process took over. */
  couldCommand(client: string, since: Moment): boolean
}

type Moment = { readonly at: number; readonly node: string }
type Seats = readonly { readonly client: string; readonly role: string }[]

export function createDriverWatch(host: Simulation['host'], session: SessionId): DriverWatch {
  const seen: Seats[] = []
  const present = (): Seats => host().registry.loaded(session)?.hub.drivers.all ?? []
  const mayCommand = (seats: Seats, client: string) => {
    const driver = seats.find(({ role }) => role === 'driver')?.client
    return driver === undefined ? !seats.some((seat) => seat.client === client) : driver === client
  }
  return {
    look: () => void seen.push(present()),
    moment: () => ({ at: seen.push(present()) - 1, node: host().life.node }),
    couldCommand: (client, { at, node }) =>
      node !== host().life.node || [...seen.slice(at), present()].some((seats) => mayCommand(seats, client)),
  }
}
