import { invariant, limits } from '@holdfast/protocol'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import { modelNow } from '../../session/state.ts'
import type { EffectDeps } from '../dependencies.ts'
import { modelUnavailable } from './call-model.ts'
import { isOverfull, writeCheckpoint } from './compaction.ts'
import type { ContextBlobs } from './context-blobs.ts'
import { isOffered } from './prepare-call.ts'

/**
 * Gathers and stores the system text and tool schemas, so that the request can be built from log and blobs alone. A
 * window that has grown too large is summarised on the way.
 */
export async function prepareStep(
  deps: EffectDeps,
  { turn }: Extract<Effect, { type: 'prepare-step' }>,
  contextBlobs: ContextBlobs,
  signal: AbortSignal,
): Promise<Report> {
  const { state, models, tools, instructions } = deps
  const { origin, settings } = state()
  invariant(origin, 'a step needs a started session')
  const model = models.find(modelNow(state()))
  if (model.type !== 'ready') return { type: 'step.refused', turn, fault: modelUnavailable(model) }

  const { workdir, instructions: added } = origin
  const offered = tools.all.filter((tool) => isOffered(origin, tool))
  const [system, schemas, checkpoint] = await Promise.all([
    instructions.gather({ workdir, mode: settings.mode, added }).then((text) => contextBlobs.keep('system', text)),
    contextBlobs.keep('tools', JSON.stringify(offered.map(({ schema }) => schema))),
    isOverfull(state(), model.contextTokens ?? limits.contextTokens) ? writeCheckpoint(deps, signal) : null,
  ])
  return { type: 'step.prepared', turn, mode: settings.mode, system, tools: schemas, checkpoint }
}
