import { type HookEvent, type HookRun, invariant } from '@holdfast/protocol'
import type { HookAnswer, HookMoment, RanHook } from '../../ports/hooks.ts'
import { storeOutput } from '../blobs/store-output.ts'
import type { EffectDeps } from '../dependencies.ts'

/** What hooks decided, and their runs as they are recorded. */
export type RecordedHooks = { readonly answer: HookAnswer; readonly runs: readonly HookRun[] }

/** Whether hooks may run at such a moment of the session. It costs no more than a look into memory. */
export function hasHooks({ hooks, state }: EffectDeps, event: HookEvent): boolean {
  const { origin } = state()
  if (hooks === undefined || !origin?.hooksEnabled) return false
  if (event === 'SessionStart' && !origin.sessionStartHook) return false
  return hooks.has(event, origin.workdir)
}

/** Runs the hooks of a moment. Returns null if there are none. Call it in effects and look-ups only, never in the mailbox. */
export async function runHooks(
  deps: EffectDeps,
  moment: HookMoment,
  signal: AbortSignal,
): Promise<RecordedHooks | null> {
  if (!hasHooks(deps, moment.event)) return null
  const { origin, settings } = deps.state()
  invariant(origin && deps.hooks, 'hooks run in a started session')
  const { mode, approvals } = settings
  const { subagent } = origin
  const agent = subagent && { agent: { session: deps.session, kind: subagent.agent } }
  const session = { session: subagent?.root ?? deps.session, workdir: origin.workdir, mode, approvals, ...agent }
  const ran = await deps.hooks.run(moment, session, signal)
  return ran && { answer: ran.answer, runs: await Promise.all(ran.runs.map((run) => toRecord(deps, run))) }
}

/** Stores what a hook printed: the whole of a long output is a blob. */
async function toRecord({ blobs, storage }: EffectDeps, { printed, ...run }: RanHook): Promise<HookRun> {
  if (printed.trim() === '') return run
  return { ...run, output: await storeOutput(blobs, [Buffer.from(printed)], storage.insist) }
}
