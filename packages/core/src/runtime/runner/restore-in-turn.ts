import { ok, type Result, refuse } from '@holdfast/protocol'
import type { Facts, PlannedRestore } from '../../session/facts.ts'
import { putFilesBack } from '../files/restore-files.ts'
import { withNotAccepted } from '../storage-health.ts'
import { handleInput, type RunningSession } from './handle-input.ts'

/**
 * Puts files back for a command; call it inside the mailbox. What is about to happen goes on record first: after a crash
 * the same command finishes it, and an undo puts back what was there.
 */
export async function restoreInTurn(session: RunningSession, planned: PlannedRestore): Promise<Result<Facts>> {
  const { items, finished, undoOf } = planned
  const { effects } = session
  const signal = effects.sideWorkSignal()
  let started: number | undefined
  if (items.length > 0) {
    const all = [...finished, ...items]
    const recorded = await handleInput(session, { type: 'restore.starting', items: all, undoOf })
    if (!recorded.ok) return refuse(withNotAccepted(recorded.fault))
    started = recorded.value.seq
  }
  const restored = await putFilesBack(effects, planned, signal)
  return ok({
    restored: { ...restored, ...(undoOf !== undefined && { undoOf }), ...(started !== undefined && { started }) },
  })
}
