import { type Event, isLeftByMove, ok, type RestoreAction, refuse, restoredNames } from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { Decided, ReportOf } from '../input.ts'
import type { SessionState } from '../state.ts'
import { turnNow } from './message.ts'
import { turnRunning } from './prompt.ts'

/** Records what is about to happen to files: after a crash in the middle, this tells how to undo it. */
export function startRestore({ items, undoOf }: ReportOf<'restore.starting'>): Event {
  return { type: 'files.restore_started', items: [...items], ...(undoOf !== undefined && { undoOf }) }
}

/** Records which files were put back. It was done before this decision, in the same turn of the mailbox. */
export function restoreFiles(state: SessionState, { restored }: Facts): Decided {
  if (!restored) return state.turn.phase === 'idle' ? ok([]) : refuse(turnRunning)
  if (restored.items.length === 0 && restored.refused.length === 0) return ok([])
  return ok([{ type: 'files.restored', ...restored }, noteOf(state, restored)])
}

/** Tells everyone who follows the session. */
function noteOf(state: SessionState, { items, refused, undoOf }: NonNullable<Facts['restored']>): Event {
  const names = restoredNames(items)
  const moved = names.filter(({ movedFrom }) => movedFrom !== undefined).length
  const count = (wanted: RestoreAction) =>
    names.filter((name) => name.action === wanted && name.movedFrom === undefined && !isLeftByMove(name)).length
  const parts = [
    [moved, 'moved back'],
    [count('restore'), 'restored'],
    [count('recreate'), 'created again'],
    [count('delete'), 'deleted'],
    [refused.length, 'left as they are'],
  ] as const
  const done = parts.filter(([number]) => number > 0).map(([number, what]) => `${number} ${what}`)
  const what = undoOf === undefined ? 'Files were put back' : 'The last restore of files was undone'
  const text = `${what}: ${done.join(', ') || 'nothing had to be changed'}.`
  return { type: 'note.added', turn: turnNow(state), kind: 'notice', level: 'info', code: 'files_restored', text }
}
