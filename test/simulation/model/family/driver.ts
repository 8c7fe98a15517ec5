import type { CommandInput } from '@holdfast/protocol'
import fc from 'fast-check'
import { type AttachedClient, type Client, nothingToDo, refused, type Sender, type State } from '../state.ts'
import type { CommandTemplate, Family } from './family.ts'

export const claimDriver: CommandTemplate = { code: 'claimDriver', command: () => ({ type: 'claimDriver' }) }
export const handOver = (client: Client): CommandTemplate => ({
  code: `handOver('${client}')`,
  command: () => ({ type: 'handOver', client }),
})

const driverOf = ({ seats }: State): Client | null => seats.find(({ role }) => role === 'driver')?.client ?? null
export const isAttached = ({ seats }: State, client: Client) => seats.some((seat) => seat.client === client)

/** Whether one may command: the driver; whoever is not attached while nobody drives; the program itself always. */
export function mayCommand(state: State, by: Sender): boolean {
  if (by === null) return true
  const driver = driverOf(state)
  return isAttached(state, by) ? driver === by : driver === null
}

/** The first to come drives, unless it asks to view; one that asks to view gives up the wheel. */
export function attachClient(state: State, client: Client, asked: AttachedClient['role'] | null): State {
  const driver = driverOf(state)
  const role = asked !== 'viewer' && (driver === null || driver === client) ? 'driver' : 'viewer'
  const seats = isAttached(state, client)
    ? state.seats.map((seat) =>
        seat.client === client ? { client, role: asked === null ? seat.role : role, holds: seat.holds + 1 } : seat,
      )
    : [...state.seats, { client, role, holds: 1 } as const]
  return { ...state, seats, isAwake: true }
}

export function detachClient(state: State, client: Client): State {
  const fewer = state.seats.map((seat) => (seat.client === client ? { ...seat, holds: seat.holds - 1 } : seat))
  return { ...state, seats: fewer.filter(({ holds }) => holds > 0) }
}

const drivenBy = (state: State, client: Client): State => ({
  ...state,
  seats: state.seats.map((seat) => ({ ...seat, role: seat.client === client ? 'driver' : 'viewer' })),
})

export const isDriverCommand = ({ type }: CommandInput): boolean => type === 'claimDriver' || type === 'handOver'

/** A seat is held by who is here, so nothing of this is on record. */
export const driverCommands: Family = {
  templates: [fc.constantFrom(claimDriver, claimDriver, handOver('ann'), handOver('bob'))],
  rules: {
    claimDriver(state, _, { by }) {
      if (by === null || !isAttached(state, by)) return refused(state, 'not_subscribed')
      const driver = driverOf(state)
      return driver !== null && driver !== by ? refused(state, 'driver_taken') : nothingToDo(drivenBy(state, by))
    },
    handOver(state, { client }, { by }) {
      if (by === null || !isAttached(state, by)) return refused(state, 'not_subscribed')
      if (driverOf(state) !== by) return refused(state, 'not_driver')
      // The only names in play are ours.
      return isAttached(state, client as Client)
        ? nothingToDo(drivenBy(state, client as Client))
        : refused(state, 'not_subscribed')
    },
  },
}
