import {
  type EventOf,
  invariant,
  limits,
  ok,
  orThrow,
  type RefusedFile,
  type RestoredFile,
  type RestorePreview,
  type RestoreRequest,
  type Result,
  restoreAction,
  type SessionId,
} from '@holdfast/protocol'
import type { RestorePlace, RestoreRun } from '../../ports/workspace-files.ts'
import type { PlannedRestore } from '../../session/input.ts'
import type { SessionState } from '../../session/state.ts'
import { readerOf } from '../blobs/blob-reader.ts'
import type { EffectDeps, RuntimeDeps } from '../dependencies.ts'
import { planFor } from './restore-point.ts'

type Deps = Pick<RuntimeDeps, 'store' | 'blobs' | 'memoryBlobs' | 'files'>

/** Finds out which files to put back, and stores what is there now. Changes nothing. */
export async function planRestoring(
  deps: EffectDeps,
  request: RestoreRequest,
  signal: AbortSignal,
): Promise<Result<PlannedRestore>> {
  const state = deps.state()
  const planned = await planFor(deps, deps.session, state, request)
  if (!planned.ok) return planned
  const { wanted, refused, finished, undoOf } = planned.value
  const items: RestoredFile[] = []
  const stayed: RefusedFile[] = [...refused]
  for (const one of wanted) {
    const { path, target } = one
    if (signal.aborted) {
      stayed.push({ path, why: stopped })
      continue
    }
    const kept = await deps.files.keepForRestore(placeOf(state), one, runOf(deps, signal))
    if (kept.type === 'refused') stayed.push({ path, why: kept.why })
    else if (kept.type === 'kept') items.push({ path, before: kept.before, after: target })
  }
  if (!signal.aborted) return ok({ items, finished, refused: stayed, undoOf })
  return ok({ items: [], finished, refused: [...stayed, ...items.map(({ path }) => ({ path, why: stopped }))], undoOf })
}

/**
 * Puts files back, one after the other, if they are still as they were planned. Call it after the start of the restore is
 * on record. An abort stops it between two files.
 */
export async function putFilesBack(
  deps: EffectDeps,
  { items, finished, refused }: PlannedRestore,
  signal: AbortSignal,
): Promise<Pick<EventOf<'files.restored'>, 'items' | 'refused'>> {
  const done: RestoredFile[] = [...finished]
  const stayed: RefusedFile[] = [...refused]
  for (const { path, before, after } of items) {
    if (signal.aborted) {
      stayed.push({ path, why: stopped })
      continue
    }
    const wanted = { path, expected: before, target: after, isNamed: true } // judged when it was kept
    const outcome = await deps.files.restore(placeOf(deps.state()), wanted, runOf(deps, signal))
    if (outcome.type === 'refused') stayed.push({ path, why: outcome.why })
    else if (outcome.type === 'restored') done.push({ path, before: outcome.before, after })
  }
  return { items: done, refused: stayed }
}

const stopped = 'the restore was stopped before it'

const runOf = (deps: EffectDeps, signal: AbortSignal): RestoreRun => ({
  ...readerOf(deps, deps.session, signal),
  put: async (bytes) => orThrow(await deps.blobs.put([bytes])),
})

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
  const { finished } = planned.value
  const files: RestorePreview['files'] = finished.map(({ path }) => ({ path, action: 'none', diff: '' }))
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
