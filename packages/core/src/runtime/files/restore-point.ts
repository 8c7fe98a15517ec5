import {
  fault,
  invariant,
  limits,
  ok,
  type RestoreRequest,
  type Result,
  refuse,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import { turnNotFound } from '../../session/decide/line.ts'
import type { SessionState } from '../../session/state.ts'
import type { RuntimeDeps } from '../dependencies.ts'
import { findTurnEnd } from '../log/find-turn-end.ts'
import { isFromBefore, readPathChanges } from './changed-files.ts'
import { findCallChanges } from './find-call-changes.ts'
import { lookAtOpen } from './interrupted-restore.ts'
import type { PathChange } from './path-change.ts'
import { planRestore, type RestorePlan } from './plan-restore.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'files'>

type Planned = RestorePlan & { readonly undoOf?: Seq | undefined }

/** Finds the point to go back to, and plans which files differ from it. */
export async function planFor(
  deps: Deps,
  id: SessionId,
  state: SessionState,
  { turn, message, call, undo, paths }: RestoreRequest,
): Promise<Result<Planned>> {
  const { store } = deps
  const { line, seq: upTo } = state
  const changesSince = async (after: Seq) =>
    lookAtOpen(deps.files, state.origin?.workdir ?? '', await readPathChanges(store, id, { after, upTo }))
  const plan = async (after: Seq, only?: readonly Seq[]): Promise<Result<RestorePlan>> => {
    const since = await changesSince(after)
    // What a call of an earlier turn had done when it was aborted happened before this point.
    const isSince = (change: PathChange) => change.isDuring === true || !isFromBefore(change, after)
    const changes = only === undefined ? since.filter(isSince) : since
    const planned = planRestore(changes, { only, after, paths, isUndo: undo })
    const count = planned.wanted.length + planned.refused.length
    if (count <= limits.restoredFilesMax) return ok(planned)
    const message = `${count} files changed since; up to ${limits.restoredFilesMax} are restored at once. Name some with paths.`
    return refuse(fault('too_large', message, { limit: 'restoredFilesMax', files: count }))
  }
  if (turn !== undefined) {
    const end = await findTurnEnd(store, id, line, upTo, turn)
    return end ? plan(end.seq) : refuse(turnNotFound(state, turn))
  }
  if (message !== undefined) return message <= upTo ? plan(message - 1) : refuse(noMessage(message))
  if (call !== undefined) {
    const found = await findCallChanges(store, id, call)
    if (!found.ok) return found
    // What a command in the background changed may be mixed with what other calls did while it ran.
    const since = await changesSince(call)
    const isDuring = since.some((one) => one.isDuring && found.value.includes(one.seq))
    return plan(isDuring ? call : found.value[0] - 1, found.value)
  }
  invariant(undo, 'a restore goes back to one point')
  const undoOf = await findUndone(store, id, upTo, async (seq) =>
    (await changesSince(seq - 1)).some((one) => one.seq === seq),
  )
  if (undoOf === null) return refuse(nothingToUndo)
  const planned = await plan(undoOf - 1, [undoOf])
  return planned.ok ? ok({ ...planned.value, undoOf }) : planned
}

/**
 * Finds the restore to undo. An interrupted one counts if it changed a file. If it was an undo itself, that undo is
 * finished.
 */
async function findUndone(
  store: Deps['store'],
  id: SessionId,
  head: Seq,
  hasChanged: (seq: Seq) => Promise<boolean>,
): Promise<Seq | null> {
  const types = ['files.restore_started', 'files.restored'] as const
  for (let upTo = head; upTo > 0; ) {
    const [last] = await store.read(id, { after: 0, upTo, limit: 1, types, newestFirst: true })
    if (!last || 'lost' in last) return null
    const { seq, event } = last
    if (event.type === 'files.restored' && event.items.length > 0) return seq
    if (event.type === 'files.restore_started' && event.undoOf !== undefined) return event.undoOf
    if (await hasChanged(seq)) return seq
    upTo = seq - 1
  }
  return null
}

const noMessage = (message: Seq) => fault('message_not_found', `This session has no message ${message}.`, { message })

const nothingToUndo = fault('nothing_to_undo', 'No files of this session were restored, so there is nothing to undo.')
