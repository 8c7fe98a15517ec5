import type { LiveView } from '@holdfast/client'
import { escapeLine } from '@holdfast/protocol'

type Attached = LiveView['presence'][number]

/** This page and the other attached clients. */
export type Control = {
  readonly me: string
  readonly others: readonly Attached[]
  /** The driver, or null. */
  readonly driver: string | null
  readonly isDriving: boolean
  /** Why this page may not send commands, or null when it may. */
  readonly watching: string | null
}

/** Returns who drives. Before the first presence frame nothing is disabled: the session itself refuses what is not allowed. */
export function controlOf({ client: me, presence }: Pick<LiveView, 'client' | 'presence'>): Control {
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
    ? 'You are watching. This session has no driver.'
    : `You are watching. ${escapeLine(driver)} is the driver.`
