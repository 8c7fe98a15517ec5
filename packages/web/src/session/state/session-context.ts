import type { LiveView } from '@holdfast/client'
import { invariant, type SessionHandle } from '@holdfast/protocol'
import { createContext, useContext, useSyncExternalStore } from 'react'
import { isBusy } from '../../text/status-text.ts'
import { seatOf } from './control.ts'
import type { Asks } from './use-commands.ts'

/** The session on screen, for what stands deep in its transcript. The same object for as long as it is open. */
export type OpenSession = {
  readonly handle: SessionHandle
  readonly live: LiveView
  readonly asks: Asks
  /** Puts words into the input, before what is there. */
  readonly takeBack: (text: string) => void
}

export const SessionContext = createContext<OpenSession | null>(null)

/** Why this page may not command, or null. A context of its own: every message asks, and it hardly ever changes. */
export const WatchingContext = createContext<string | null>(null)

export function useSession(): OpenSession {
  const parts = useContext(SessionContext)
  invariant(parts, 'this is drawn inside a session only')
  return parts
}

/**
 * One thing of the live view. Whoever asks is drawn again only when that changes, so that ten thousand messages may ask;
 * `read` must return the same value while nothing did.
 */
export function useLive<Value>(read: (live: LiveView) => Value): Value {
  const { live } = useSession()
  return useSyncExternalStore(live.subscribe, () => read(live))
}

export const runningText = 'A turn is running. Stop it, or wait for its end.'

/** Why this page may not command now, or null. */
export const heldBy = (live: LiveView): string | null => seatOf(live).watching

/** Why the past cannot be changed now, or null. */
export const holdOf = (live: LiveView): string | null =>
  heldBy(live) ?? (live.view && isBusy(live.view.status) ? runningText : null)
