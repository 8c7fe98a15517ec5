import { type Fault, fault, type Seq, type SessionId } from '@holdfast/protocol'
import type { EffectDeps } from '../dependencies.ts'
import { readWindow, WindowDamaged } from '../log/read-window.ts'

export const logDamaged = (session: SessionId, lost: readonly Seq[]): Fault =>
  fault(
    'log_damaged',
    `Session ${session} has records that cannot be read (${lost.join(', ')}), so it is read-only. The rest can be shown.`,
    { session, lost: [...lost] },
  )

/**
 * Looks once, before the first prompt after a wake, whether all that the model must see can be read. Opening does not:
 * it costs a snapshot and a short tail, whatever the length of the history.
 */
export function createWindowDamageCheck(): (parts: EffectDeps) => Promise<Fault | null> {
  let isWhole = false
  return async ({ store, session, state }) => {
    if (isWhole) return null
    try {
      await readWindow(store, session, state())
      isWhole = true
      return null
    } catch (cause) {
      if (!(cause instanceof WindowDamaged)) throw cause
      return logDamaged(session, [cause.seq])
    }
  }
}
