import type { CommandInput } from '@holdfast/protocol'
import fc from 'fast-check'
import { type AttachedClient, type Client, nothingToDo, refused, type Sender, type State } from '../state.ts'
import type { CommandTemplate, Family } from './family.ts'

export const claimDriver: CommandTemplate = { code: 'claimDriver', command: () => ({ type: 'claimDriver' }) }
export const takeOver: CommandTemplate = {
  code: 'takeOver',
  command: () => ({ type: 'claimDriver', takeOver: true }),
}
export const handOver = (client: Client): CommandTemplate => ({
  code: `handOver('${client}')`,
  command: () => ({ type: 'handOver', client }),
})

const driverOf = ({ attachments }: State): Client | null =>
  attachments.find(({ role }) => role === 'driver')?.client ?? null
export const isAttached = ({ attachments }: State, client: Client) =>
  attachments.some((attachment) => attachment.client === client)

/** Returns whether a sender may command: the driver, an unattached client without a driver, or the program itself. */
export function mayCommand(state: State, by: Sender): boolean {
  if (by === null) return true
  const driver = driverOf(state)
  return isAttached(state, by) ? driver === by : driver === null
}

/** Returns whether a sender may abort: who may command, and every attached client, because all of them may drive. */
export const mayAbort = (state: State, by: Sender): boolean =>
  mayCommand(state, by) || (by !== null && isAttached(state, by))

/** Attaches a client. The first one drives unless it asks to view; a driver that asks to view gives up control. */
export function attachClient(state: State, client: Client, asked: AttachedClient['role'] | null): State {
  const driver = driverOf(state)
  const role = asked !== 'viewer' && (driver === null || driver === client) ? 'driver' : 'viewer'
  const attachments = isAttached(state, client)
    ? state.attachments.map((attachment) =>
        attachment.client === client
          ? { client, role: asked === null ? attachment.role : role, holds: attachment.holds + 1 }
          : attachment,
      )
    : [...state.attachments, { client, role, holds: 1 } as const]
  return { ...state, attachments, isLoaded: true }
}

export function detachClient(state: State, client: Client): State {
  const fewer = state.attachments.map((attachment) =>
    attachment.client === client ? { ...attachment, holds: attachment.holds - 1 } : attachment,
  )
  return { ...state, attachments: fewer.filter(({ holds }) => holds > 0) }
}

const drivenBy = (state: State, client: Client): State => ({
  ...state,
  attachments: state.attachments.map((attachment) => ({
    ...attachment,
    role: attachment.client === client ? 'driver' : 'viewer',
  })),
})

export const isDriverCommand = ({ type }: CommandInput): boolean => type === 'claimDriver' || type === 'handOver'

/** Commands about the driver. Attachments are not recorded, so these leave no record. */
export const driverCommands: Family = {
  templates: [fc.constantFrom(claimDriver, claimDriver, takeOver, handOver('ann'), handOver('bob'))],
  rules: {
    claimDriver(state, command, { by }) {
      if (by === null || !isAttached(state, by)) return refused(state, 'not_subscribed')
      const driver = driverOf(state)
      const isTaken = driver !== null && driver !== by && !command.takeOver
      return isTaken ? refused(state, 'driver_taken') : nothingToDo(drivenBy(state, by))
    },
    handOver(state, { client }, { by }) {
      if (by === null || !isAttached(state, by)) return refused(state, 'not_subscribed')
      if (driverOf(state) !== by) return refused(state, 'not_driver')
      // The run uses only known clients.
      return isAttached(state, client as Client)
        ? nothingToDo(drivenBy(state, client as Client))
        : refused(state, 'not_subscribed')
    },
  },
}
