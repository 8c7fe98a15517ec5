import type { LiveView } from '@holdfast/client'
import { escapeLine } from '@holdfast/protocol'

type Attached = LiveView['presence'][number]

/** Where this page sits among those attached. */
export type Seat = {
  readonly me: string
  readonly others: readonly Attached[]
  /** Who drives, or null while the seat is vacant. */
  readonly driver: string | null
  readonly isDriving: boolean
  /** Why this page may not command, or null when it may. */
  readonly watching: string | null
}

/** Before the first word on who is attached, nothing is held back: the session itself refuses what is not allowed. */
export function seatOf({ client: me, presence }: Pick<LiveView, 'client' | 'presence'>): Seat {
  const role = presence.find(({ client }) => client === me)?.role
  const driver = presence.find(({ role }) => role === 'driver')?.client ?? null
  return {
    me,
    others: presence.filter(({ client }) => client !== me),
    driver,
    isDriving: role === 'driver',
    watching: role === 'viewer' ? reasonOf(driver) : null,
  }
}

const reasonOf = (driver: string | null): string =>
  driver === null
    ? 'You are watching. Nobody drives this session.'
    : `You are watching. ${escapeLine(driver)} drives this session.`
