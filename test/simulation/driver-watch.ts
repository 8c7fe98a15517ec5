import type { SessionId } from '@holdfast/protocol'
import type { Simulation } from './simulation.ts'

/** Records the attached clients and their roles between any two steps. */
export type DriverWatch = {
  look(): void
  /** Returns the current position, for `couldCommand`. */
  moment(): Moment
  /** Returns whether `client` was allowed to command at any time since then. True if another process has taken over. */
  couldCommand(client: string, since: Moment): boolean
}

type Moment = { readonly at: number; readonly node: string }
type Clients = readonly { readonly client: string; readonly role: string }[]

export function createDriverWatch(host: Simulation['host'], session: SessionId): DriverWatch {
  const seen: Clients[] = []
  const present = (): Clients => host().registry.loaded(session)?.hub.drivers.all ?? []
  const mayCommand = (clients: Clients, client: string) => {
    const driver = clients.find(({ role }) => role === 'driver')?.client
    return driver === undefined ? !clients.some((one) => one.client === client) : driver === client
  }
  return {
    look: () => void seen.push(present()),
    moment: () => ({ at: seen.push(present()) - 1, node: host().life.node }),
    couldCommand: (client, { at, node }) =>
      node !== host().life.node || [...seen.slice(at), present()].some((clients) => mayCommand(clients, client)),
  }
}
