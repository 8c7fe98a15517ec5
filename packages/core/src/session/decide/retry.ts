import { type Event, invariant, limits, type ModelName } from '@holdfast/protocol'
import type { Report } from '../input.ts'
import type { SessionState } from '../state.ts'

type Retrying = Extract<Report, { type: 'model.retrying' }>
type Failed = Extract<Report, { type: 'model.failed' }>

/** Adds a notice: what failed, how long until the next try, and how many tries there are. */
export function tellRetry(
  { turn }: SessionState,
  { fault, happened = fault.message, waitMs, tries }: Retrying,
): readonly Event[] {
  invariant(turn.phase === 'thinking', 'only a step is tried again')
  const text = `${happened} Trying again in ${inSeconds(waitMs)}: try ${tries + 1} of ${limits.retriesMax + 1}.`
  return [{ type: 'note.added', turn: turn.number, kind: 'notice', level: 'info', code: 'retry', text }]
}

/** Returns the model that answers instead: one that a person chose meanwhile, else the fallback. */
export function successor({ turn, settings }: SessionState, { fallback }: Failed): ModelName | null {
  if (fallback === undefined || turn.phase !== 'thinking') return null
  const isTried = turn.model === settings.model || turn.fallback?.tried.includes(settings.model)
  return isTried ? fallback : settings.model
}

/** Lets another model answer for the rest of the turn: nothing was said yet. */
export function fallBack({ turn }: SessionState, failed: Failed, fallback: ModelName): readonly Event[] {
  invariant(turn.phase === 'thinking' && failed.parts.length === 0, 'nobody takes over what another has begun to say')
  const { number, step, model } = turn
  const { fault, happened = fault.message, usage } = failed
  const text = `${model} does not answer: ${happened} ${fallback} answers in its place for the rest of this turn.`
  return [
    { type: 'step.ended', turn: number, step, finish: 'failed', usage, fault, fallback },
    { type: 'note.added', turn: number, kind: 'notice', level: 'info', code: 'fallback', text },
  ]
}

const inSeconds = (ms: number): string => `${Number((ms / 1000).toFixed(1))} s`
