import type { LiveView } from '@holdfast/client'
import { invariant, type SessionHandle } from '@holdfast/protocol'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { isBusy } from '../../text/status-text.ts'
import { controlOf } from './control.ts'
import type { Asks } from './use-commands.ts'

/** The session on screen. The same object while it is open. */
export type SessionOnScreen = {
  readonly handle: SessionHandle
  readonly live: LiveView
  readonly asks: Asks
  /** Inserts text at the start of the input. */
  readonly takeBack: (text: string) => void
}

export const SessionContext = createContext<SessionOnScreen | null>(null)

/** Why this page may not send commands, or null. A separate context, because every message reads it and it rarely changes. */
export const WatchingContext = createContext<string | null>(null)

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
export const heldBy = (live: LiveView): string | null => controlOf(live).watching

/** Why the history cannot be changed now, or null. */
export const holdOf = (live: LiveView): string | null =>
  heldBy(live) ?? (live.view && isBusy(live.view.status) ? runningText : null)
