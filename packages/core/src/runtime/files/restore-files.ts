import {
  fault,
  invariant,
  limits,
  ok,
  orThrow,
  type RefusedFile,
  type RestoredFile,
  type RestorePreview,
  type RestoreRequest,
  type Result,
  refuse,
  restoreAction,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import type { RestorePlace, RestoreRun } from '../../ports/workspace-files.ts'
import { turnNotFound } from '../../session/decide/line.ts'
import type { Facts } from '../../session/input.ts'
import type { SessionState } from '../../session/state.ts'
import { openBlob } from '../blobs/read-blob.ts'
import type { EffectDeps, RuntimeDeps } from '../dependencies.ts'
import { findTurnEnd } from '../log/find-turn-end.ts'
import { readPathChanges } from './changed-files.ts'
import { planRestore, type RestorePlan } from './plan-restore.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs' | 'files'>

/**
 * Puts files back, one after the other. An abort stops it between two files. What was done is recorded whatever happens
 * then; after a crash the same request goes on where it stopped, because a file that is as wanted stays as it is.
 */
export async function restoreFiles(
  deps: EffectDeps,
  request: RestoreRequest,
  signal: AbortSignal,
): Promise<Result<Facts>> {
  const state = deps.state()
  const planned = await planFor(deps, deps.session, state, request)
  if (!planned.ok) return planned
  const { wanted, refused, undoOf } = planned.value
  const items: RestoredFile[] = []
  const stayed: RefusedFile[] = [...refused]
  const run: RestoreRun = {
    ...readerOf(deps, deps.session, signal),
    put: async (bytes) => orThrow(await deps.blobs.put([bytes])),
  }
  for (const one of wanted) {
    const { path, target } = one
    if (signal.aborted) {
      stayed.push({ path, why: 'the restore was stopped before it' })
      continue
    }
    const outcome = await deps.files.restore(placeOf(state), one, run)
    if (outcome.type === 'refused') stayed.push({ path, why: outcome.why })
    else if (outcome.type === 'restored') items.push({ path, before: outcome.before, after: target })
  }
  return ok({ restored: { items, refused: stayed, ...(undoOf !== undefined && { undoOf }) } })
}

/** Returns what `restoreFiles` would do now. */
export async function previewRestore(
  deps: Deps,
  id: SessionId,
  state: SessionState,
  request: RestoreRequest,
  signal: AbortSignal,
): Promise<Result<RestorePreview>> {
  const planned = await planFor(deps, id, state, request)
  if (!planned.ok) return planned
  const files: RestorePreview['files'] = []
  let chars = 0
  const refused: RefusedFile[] = [...planned.value.refused]
  for (const one of planned.value.wanted) {
    const { path, target: after } = one
    const found = await deps.files.previewRestore(placeOf(state), one, readerOf(deps, id, signal))
    if (found.type === 'refused') refused.push({ path, why: found.why })
    else if (found.type === 'unchanged') files.push({ path, action: 'none', diff: '' })
    else {
      chars += found.diff.length
      const diff = chars > limits.diffsCharsMax ? tooMuch : found.diff
      files.push({ path, action: restoreAction({ before: found.before, after }), diff })
    }
  }
  return ok({ files, refused })
}

const tooMuch = 'not shown: the diffs before this one are long. Name this file alone to see it.\n'

function placeOf({ origin, boundaries }: SessionState): RestorePlace {
  invariant(origin, 'a session that changed files was started')
  return { workdir: origin.workdir, boundaries }
}

/** Returns how the blobs of a session are read. */
export const readerOf = (deps: Deps, id: SessionId, signal: AbortSignal): Omit<RestoreRun, 'put'> => ({
  signal,
  async read(hash) {
    const opened = await openBlob(deps, id, hash)
    if (opened.ok) return Buffer.concat(await Array.fromAsync(opened.value))
    if (opened.fault.code === 'blob_not_found') return null
    return orThrow(opened)
  },
})

type Planned = RestorePlan & { readonly undoOf?: Seq | undefined }

/** Finds the point to go back to, and plans which files differ from it. */
async function planFor(
  deps: Deps,
  id: SessionId,
  state: SessionState,
  { turn, message, call, undo, paths }: RestoreRequest,
): Promise<Result<Planned>> {
  const { store } = deps
  const { line, seq: upTo } = state
  const plan = async (after: Seq, only?: Seq): Promise<Result<RestorePlan>> => {
    const planned = planRestore(await readPathChanges(store, id, { after, upTo }), { only, paths })
    const count = planned.wanted.length + planned.refused.length
    if (count <= limits.restoredFilesMax) return ok(planned)
    const message = `${count} files changed since; up to ${limits.restoredFilesMax} are restored at once. Name some with paths.`
    return refuse(fault('too_large', message, { limit: 'restoredFilesMax', files: count }))
  }
  if (turn !== undefined) {
    const end = await findTurnEnd(store, id, line, upTo, turn)
    return end ? plan(end.seq) : refuse(turnNotFound(state, turn))
  }
  if (message !== undefined) return plan(message - 1)
  if (call !== undefined) {
    const records = await store.readRefs(id, [call])
    const settled = records.find((record) => !('lost' in record) && record.event.type === 'call.settled')
    return settled ? plan(settled.seq - 1, settled.seq) : refuse(callMissing(call))
  }
  invariant(undo, 'a restore goes back to one point')
  const [last] = await store.read(id, { after: 0, upTo, limit: 1, types: ['files.restored'], newestFirst: true })
  if (!last || 'lost' in last) return refuse(nothingToUndo)
  const planned = await plan(last.seq - 1, last.seq)
  return planned.ok ? ok({ ...planned.value, undoOf: last.seq }) : planned
}

const callMissing = (call: Seq) => fault('message_not_found', `This session has no settled call ${call}.`, { call })
const nothingToUndo = fault('nothing_to_undo', 'No files of this session were restored, so there is nothing to undo.')
