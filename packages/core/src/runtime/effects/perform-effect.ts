import { type ModelFault, unreachable } from '@holdfast/protocol'
import type { Report } from '../../session/input.ts'
import type { Effect } from '../../session/plan.ts'
import type { EffectDeps } from '../dependencies.ts'
import type { EffectRun, Perform } from '../performer.ts'
import { callModel } from './call-model.ts'
import { createContextBlobs } from './context-blobs.ts'
import { prepareCall } from './prepare-call.ts'
import { prepareStep } from './prepare-step.ts'
import { runTool } from './run-tool.ts'
import { abortableDelay } from './with-retries.ts'

/** Runs effects. A broken one reports a failure, so that the session never waits for it. */
export function createPerform(deps: EffectDeps): Perform {
  const contextBlobs = createContextBlobs(deps.blobs, deps.storage.insist)

  const perform = (effect: Effect, run: EffectRun): Promise<Report | null> => {
    switch (effect.type) {
      case 'prepare-step':
        return prepareStep(deps, effect, contextBlobs, run.signal)
      case 'call-model':
        return callModel(deps, effect, contextBlobs, run)
      case 'prepare-call':
        return prepareCall(deps, effect)
      case 'await-approval':
        return awaitApproval(deps, effect, run.signal)
      case 'run-tool':
        return runTool(deps, effect, run)
      default:
        return unreachable(effect)
    }
  }

  return async (effect, run) => {
    try {
      const { observer, session } = deps
      const work = () => perform(effect, run)
      return await (observer?.during?.(session, effect, work) ?? work())
    } catch (cause) {
      if (run.signal.aborted) return null
      deps.onProblem({ where: effect.key, cause })
      return brokenReport(deps, effect, cause)
    }
  }
}

function brokenReport(deps: EffectDeps, effect: Effect, cause: unknown): Report {
  const detail = cause instanceof Error ? cause.message : String(cause)
  const fault: ModelFault = {
    kind: 'raw_dump',
    message: 'Something inside Holdfast broke. The details are in the log.',
    detail,
  }
  switch (effect.type) {
    case 'prepare-step':
      return { type: 'step.refused', turn: effect.turn, fault }
    case 'call-model': {
      const { answer } = deps
      const said = answer?.step === effect.step ? answer.parts : []
      return { type: 'model.failed', step: effect.step, parts: said, fault, usage: null }
    }
    case 'prepare-call':
      return {
        type: 'call.prepared',
        call: effect.call,
        found: { unusable: `${effect.tool} could not be prepared: ${detail}` },
        atMs: deps.clock.now(),
      }
    case 'await-approval':
      return { type: 'approval.expired', call: effect.call }
    case 'run-tool': {
      const output = { text: `${effect.tool} could not be run: ${detail}` }
      return { type: 'tool.finished', call: effect.call, outcome: { type: 'failed', output }, durationMs: 0, files: [] }
    }
    default:
      return unreachable(effect)
  }
}

/** Waits until a question expires. Started again after a crash, it waits for the remaining time. */
async function awaitApproval(
  { clock }: EffectDeps,
  { call, until }: Extract<Effect, { type: 'await-approval' }>,
  signal: AbortSignal,
): Promise<Report | null> {
  await abortableDelay(clock, Math.max(0, Date.parse(until) - clock.now()), signal)
  return signal.aborted ? null : { type: 'approval.expired', call }
}
