import {
  type EventOf,
  invariant,
  isLeftByMove,
  isSameState,
  limits,
  ok,
  orThrow,
  type RefusedFile,
  type RestoreAction,
  type RestoredFile,
  type RestorePreview,
  type RestoreRequest,
  type Result,
  renameHeads,
  restoreAction,
  type SessionId,
} from '@holdfast/protocol'
import type { RestorePlace, RestoreRun } from '../../ports/workspace-files.ts'
import type { PlannedRestore } from '../../session/facts.ts'
import type { SessionState } from '../../session/state.ts'
import { readerOf } from '../blobs/blob-reader.ts'
import type { EffectDeps, RuntimeDeps } from '../dependencies.ts'
import { listNames } from './link-paths.ts'
import { keepTogether, leftWith, type PlannedFile } from './plan-restore.ts'
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
  const { wanted, refused, finished, together, undoOf } = planned.value
  const items: RestoredFile[] = []
  const stayed: RefusedFile[] = [...refused]
  for (const one of wanted) {
    const { path, target, movedFrom } = one
    if (signal.aborted) {
      stayed.push({ path, why: stopped })
      continue
    }
    const kept = await deps.files.keepForRestore(placeOf(state), one, runOf(deps, signal))
    if (kept.type === 'refused') stayed.push({ path, why: kept.why })
    else if (kept.type === 'kept')
      items.push({ path, before: kept.before, after: target, ...(movedFrom !== undefined && { movedFrom }) })
  }
  const { wanted: linked, refused: left } = keepTogether(items, stayed, together)
  const plan = { finished, together, undoOf }
  if (!signal.aborted) return ok({ ...plan, items: inOrder(linked, together), refused: [...left] })
  return ok({ ...plan, items: [], refused: [...left, ...linked.map(({ path }) => ({ path, why: stopped }))] })
}

/**
 * Orders items so that a moved file is at its old path again before it is replaced or removed at the new one. Only where
 * a file and a folder have one name, what is there makes room first; its content is stored.
 */
function inOrder(items: readonly RestoredFile[], together: PlannedRestore['together']): readonly RestoredFile[] {
  const linked = new Set(together.flat())
  const namesakes = listNames(together)
  const rankOf = (item: RestoredFile) => {
    const action = restoreAction(item)
    if (!linked.has(item.path)) return 0
    return restoreOrder.indexOf(namesakes(item.path).length > 0 ? `${action} by name` : action)
  }
  return items.toSorted((one, other) => rankOf(one) - rankOf(other))
}

const restoreOrder: readonly (RestoreAction | `${RestoreAction} by name`)[] = [
  ...(['recreate', 'delete by name', 'recreate by name'] as const),
  ...(['none', 'none by name', 'restore', 'restore by name', 'delete'] as const),
]

/**
 * Puts files back, one after the other, if they are still as they were planned. Call it after the start of the restore is
 * on record. An abort stops it between two files.
 */
export async function putFilesBack(
  deps: EffectDeps,
  { items, finished, refused, together }: PlannedRestore,
  signal: AbortSignal,
): Promise<Pick<EventOf<'files.restored'>, 'items' | 'refused'>> {
  const namesakes = listNames(together)
  const done: RestoredFile[] = [...finished]
  const stayed: RefusedFile[] = [...refused]
  for (const { path, before, after, movedFrom } of items) {
    const cause = stayed.find((one) => together.some((linked) => linked.includes(path) && linked.includes(one.path)))
    if (signal.aborted || cause) {
      stayed.push({ path, why: cause ? leftWith(cause) : stopped })
      continue
    }
    const clears = after.type === 'absent' ? [] : namesakes(path)
    const wanted = { path, expected: before, target: after, isNamed: true, clears } // judged when it was kept
    const outcome = await deps.files.restore(placeOf(deps.state()), wanted, runOf(deps, signal))
    if (outcome.type === 'refused') stayed.push({ path, why: outcome.why })
    else if (outcome.type === 'restored')
      done.push({ path, before: outcome.before, after, ...(movedFrom !== undefined && { movedFrom }) })
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
  const { finished, wanted, together } = planned.value
  const files: PreviewedFile[] = finished.map(({ path }) => ({ path, action: 'none', diff: '' }))
  let chars = 0
  const refused: RefusedFile[] = [...planned.value.refused]
  for (const one of wanted) {
    const { path, target: after, movedFrom } = one
    const found = await deps.files.previewRestore(placeOf(state), one, readerOf(deps, id, signal))
    if (found.type === 'refused') refused.push({ path, why: found.why })
    else if (found.type === 'unchanged') files.push({ path, action: 'none', diff: '' })
    else {
      const movedTo = wanted.find((other) => other.movedFrom === path)?.path
      const shown = movedFrom === undefined ? found.diff : await diffMove(deps, { id, state, one, movedFrom }, signal)
      const action = restoreAction({ before: found.before, after })
      const isLeft = isLeftByMove({ path, action, movedTo })
      chars += isLeft ? 0 : shown.length
      const diff = isLeft ? '' : chars > limits.diffsCharsMax ? tooMuch : shown
      files.push({
        path,
        action,
        diff,
        ...(movedFrom !== undefined && { movedFrom }),
        ...(movedTo !== undefined && { movedTo }),
      })
    }
  }
  const { wanted: kept, refused: left } = keepTogether(files, refused, together)
  return ok({ files: [...kept], refused: [...left] })
}

type PreviewedFile = RestorePreview['files'][number]

type MovedBack = {
  readonly id: SessionId
  readonly state: SessionState
  readonly one: PlannedFile
  readonly movedFrom: string
}

/** Returns the diff of a move that is put back: from what is at its new path to what comes back at the old one. */
async function diffMove(
  deps: Deps,
  { id, state, one: { path, target }, movedFrom }: MovedBack,
  signal: AbortSignal,
): Promise<string> {
  const { read } = readerOf(deps, id, signal)
  const now = await deps.files.look(placeOf(state).workdir, movedFrom)
  const bytes = target.type === 'file' ? await read(target.hash) : null
  const heads = renameHeads(movedFrom, path)
  if (now === null || isSameState(now.state, target)) return heads
  return `${heads}${await deps.files.diff({ path, from: movedFrom, before: now.bytes, after: bytes }, signal)}`
}

const tooMuch = 'not shown: the diffs before this one are long. Name this file alone to see it.\n'

function placeOf({ origin, boundaries }: SessionState): RestorePlace {
  invariant(origin, 'a session that changed files was started')
  return { workdir: origin.workdir, boundaries }
}
