import type { BlobHash } from '@holdfast/protocol'
import { HoldfastError, invariant } from '@holdfast/protocol'
import type { Blobs } from '../../ports/blobs.ts'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import { isOffered } from './offered.ts'
import type { EffectParts } from './parts.ts'
import { unreadyFault } from './unready-fault.ts'

export type StepPreparer = (parts: EffectParts, effect: Extract<Effect, { type: 'prepare-step' }>) => Promise<Report>

/** Gathers what the model is told apart from messages and stores it, so that the request is built from the log and blobs alone. */
export function createStepPreparer(): StepPreparer {
  const stored = new Map<'system' | 'tools', { readonly text: string; readonly hash: BlobHash }>()

  /** The same text is stored once in the life of a session, not once a step. */
  const keep = async (blobs: Blobs, which: 'system' | 'tools', text: string): Promise<BlobHash> => {
    const known = stored.get(which)
    if (known?.text === text) return known.hash
    const put = await blobs.put([Buffer.from(text)])
    if (!put.ok) throw new HoldfastError(put.fault)
    stored.set(which, { text, hash: put.value.hash })
    return put.value.hash
  }

  return async ({ state, models, tools, blobs, instructions }, { turn }) => {
    const { origin, settings } = state()
    invariant(origin, 'a step needs a started session')
    const model = models.find(settings.model)
    if (model.type !== 'ready') return { type: 'step.refused', turn, fault: unreadyFault(model) }

    const { workdir, instructions: added } = origin
    const offered = tools.all.filter((tool) => isOffered(origin, tool))
    const [system, schemas] = await Promise.all([
      instructions.gather({ workdir, mode: settings.mode, added }).then((text) => keep(blobs, 'system', text)),
      keep(blobs, 'tools', JSON.stringify(offered.map(({ schema }) => schema))),
    ])
    return { type: 'step.prepared', turn, mode: settings.mode, system, tools: schemas }
  }
}
