import type { LiveView } from '@holdfast/client'
import { invariant, type SessionHandle } from '@holdfast/protocol'
import { createContext, useContext, useSyncExternalStore } from 'react'
import type { StoredFile } from '../../draft-files/use-draft-files.ts'
import { clientText } from '../../screens/client-name.ts'
import { isBusy } from '../../text/format.ts'
import type { PageCommands } from './use-commands.ts'

type Attached = LiveView['presence'][number]

/** This page and the other attached clients. */
export type Control = {
  readonly me: string
  readonly others: readonly Attached[]
  /** The driver, or null. */
  readonly driver: string | null
  readonly isDriving: boolean
  /** Nobody drives, so that this page takes control with its next command. */
  readonly isSeatFree: boolean
  /** Why this page may not send commands, or null when it may: it watches, or its connection is lost. */
  readonly watching: string | null
  readonly isLost: boolean
}

/** Returns who drives. Before the first presence frame nothing is disabled: the session itself refuses what is not allowed. */
export function controlOf({
  client: me,
  presence,
  connection,
}: Pick<LiveView, 'client' | 'presence' | 'connection'>): Control {
  const isLost = connection.state === 'waiting' || connection.state === 'ended'
  const role = presence.find(({ client }) => client === me)?.role
  const driver = presence.find(({ role }) => role === 'driver')?.client ?? null
  return {
    me,
    others: presence.filter(({ client }) => client !== me),
    driver,
    isDriving: role === 'driver',
    isSeatFree: role === 'viewer' && driver === null,
    watching: isLost ? lostText : role === 'viewer' && driver !== null ? reasonOf(driver, me) : null,
    isLost,
  }
}

const lostText = 'The connection is lost. Nothing can be sent until it is back.'

const reasonOf = (driver: string, me: string): string => `You are watching. In control: ${clientText(driver, me)}.`

/** The session on screen. The same object while it is open. */
export type SessionOnScreen = {
  readonly handle: SessionHandle
  readonly live: LiveView
  readonly asks: PageCommands
  /** Inserts text at the start of the input, and attaches files; null where there is none, as in a subagent beside its session. */
  readonly takeBack: ((text: string, files: readonly StoredFile[]) => void) | null
}

export const SessionContext = createContext<SessionOnScreen | null>(null)

/** Why this page may not send commands, or null. A separate context, because every message reads it and it rarely changes. */
export const WatchingContext = createContext<string | null>(null)

/** Whether this page only shows the session, without anything that could change it: that of a share link. */
export const ShownOnlyContext = createContext(false)

export function useSession(): SessionOnScreen {
  const parts = useContext(SessionContext)
  invariant(parts, 'this is drawn inside a session only')
  return parts
}

/**
 * Returns one value of the live view. The component is redrawn only when it changes. `read` must return the same value
 * while nothing changed.
 */
export function useLive<Value>(read: (live: LiveView) => Value): Value {
  const { live } = useSession()
  return useSyncExternalStore(live.subscribe, () => read(live))
}

export const runningText = 'A turn is running. Stop it or wait until it ends.'

/** Why this page may not send commands, or null. */
export const whyReadOnly = (live: LiveView): string | null => controlOf(live).watching

/** Why the history cannot be changed now, or null. */
export const whyHistoryLocked = (live: LiveView): string | null =>
  whyReadOnly(live) ?? (live.view && isBusy(live.view.status) ? runningText : null)
