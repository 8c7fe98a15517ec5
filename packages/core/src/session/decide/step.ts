import {
  CallId,
  type Event,
  invariant,
  limits,
  type ModelFault,
  type ModelName,
  providerOf,
  type StepId,
  type TurnNumber,
} from '@holdfast/protocol'
import type { SaidPart } from '../../ports/provider.ts'
import type { Events, ReportOf } from '../input.ts'
import { modelNow, type SessionState } from '../state.ts'
import { settle } from './call.ts'
import { compacted } from './checkpoint.ts'
import { goOn, hooksRan, stoppedByHook, tooOften } from './hook.ts'
import { followUp, limitReached, nextFollowUps, say } from './prompt.ts'

/** Starts the next step. The round is closed, so waiting steering prompts are added before the model call. */
export function startStep(state: SessionState, report: ReportOf<'step.prepared'>): Events {
  invariant(state.turn.phase === 'preparing', 'a step begins between rounds')
  const { turn, system, tools, checkpoint, news, hooks, tree } = report
  const stopped = stoppedByHook(state)
  if (stopped) return stopped
  const steering = state.queue.filter(({ queue }) => queue === 'steering')
  if (state.turn.isAnswered && steering.length === 0) return endTurn(state, turn) // the steering prompt was removed
  const limit = limitReached(state, state.turn.steps, tree)
  if (limit !== null) return endAtLimit(turn, limit)
  const { thinkingLevel } = state.settings
  const isSame = state.context?.system === system && state.context.tools === tools
  return [
    ...hooksRan(state, hooks),
    ...compacted(state, checkpoint),
    ...steering.flatMap((entry) => say(turn, entry)),
    ...(news ? [tellNews(turn, news)] : []),
    ...(isSame ? [] : [{ type: 'context.changed', system, tools } as const]),
    { type: 'step.started', turn, model: modelNow(state), thinkingLevel, attempt: state.turn.attempt },
  ]
}

/** Ends the turn before a step that a cap keeps from starting. It can be continued. */
export function capStep(state: SessionState, { turn, fault }: ReportOf<'step.capped'>): Events {
  invariant(state.turn.phase === 'preparing', 'a step begins between rounds')
  const stopped = stoppedByHook(state)
  if (stopped) return stopped
  const isOver = state.turn.isAnswered && !state.queue.some(({ queue }) => queue === 'steering')
  return isOver ? endTurn(state, turn) : endAtLimit(turn, { code: fault.code, text: fault.message })
}

const endAtLimit = (turn: TurnNumber, limit: { readonly code: string; readonly text: string }): Events => [
  { type: 'note.added', turn, kind: 'notice', level: 'info', ...limit },
  { type: 'turn.ended', turn, reason: 'limit' },
]

/** Tells people and the model what became of commands in the background. */
const tellNews = (turn: TurnNumber, { text, isBreach }: NonNullable<ReportOf<'step.prepared'>['news']>): Event => ({
  type: 'note.added',
  turn,
  kind: 'notice',
  level: isBreach ? 'error' : 'info',
  code: 'background',
  text,
  told: true,
})

/** Records the model's answer and calls. Without calls the turn ends, unless a prompt steers it. */
export function endStep(state: SessionState, ended: ReportOf<'model.replied' | 'model.failed'>): Events {
  invariant(state.turn.phase === 'thinking', 'an answer needs a step')
  const { number: turn } = state.turn
  const { step, usage } = ended
  if (ended.type === 'model.failed') {
    const { fault } = ended
    const next = successor(state, ended)
    if (next !== null) return fallBack(state, ended, next)
    return [
      ...saidEvents(state, step, ended.parts, true),
      { type: 'step.ended', turn, step, finish: 'failed', usage, fault },
      { type: 'turn.ended', turn, reason: 'failed', fault },
    ]
  }
  const spoken = saidEvents(state, step, ended.parts, false)
  const { finish, estimate } = ended
  const events: Event[] = [
    ...spoken,
    { type: 'step.ended', turn, step, finish, usage, ...(estimate && { estimate }) },
    ...tooManyCalls(turn, ended.parts),
  ]
  const isSteered = state.queue.some(({ queue }) => queue === 'steering')
  if (!spoken.some(({ type }) => type === 'call.requested'))
    return isSteered || ended.hasStopHooks ? events : [...events, ...endTurn(state, turn)]
  return [...events, ...spoken.flatMap((event, index) => settleMalformed(event, state.seq + 1 + index))]
}

export function failTurn(state: SessionState, fault: ModelFault): Events {
  invariant(state.turn.phase !== 'idle', 'only a turn can fail')
  return [{ type: 'turn.ended', turn: state.turn.number, reason: 'failed', fault }]
}

/** Returns the events of an answer. One that was cut keeps its text and loses its calls, which may be incomplete. */
export function saidEvents(state: SessionState, step: StepId, parts: readonly SaidPart[], isCut: boolean): Events {
  invariant(state.turn.phase === 'thinking', 'an answer needs a step')
  const { number: turn } = state.turn
  const provider = providerOf(state.turn.model)
  const kept = isCut ? parts.filter(({ type }) => type !== 'call') : parts
  let calls = 0
  return kept.flatMap((part, index): Event[] => {
    const meta = part.meta && { meta: { ...part.meta } }
    if (part.type === 'call') {
      if (++calls > limits.callsPerRoundMax) return []
      const malformed = part.malformed !== undefined && { malformed: part.malformed }
      const { tool, args } = part
      return [{ type: 'call.requested', turn, step, tool, args: { ...args }, provider, ...meta, ...malformed }]
    }
    if (part.text === '' && part.meta === undefined) return []
    const interrupted = isCut && index === kept.length - 1 && { interrupted: true as const }
    const type = part.type === 'text' ? 'text.said' : 'thinking.said'
    return [{ type, turn, step, text: part.text, provider, ...meta, ...interrupted }]
  })
}

/** Adds a notice about calls over the limit. They are not recorded, so the model never waits for them. */
function tooManyCalls(turn: TurnNumber, parts: readonly SaidPart[]): Events {
  const asked = parts.filter(({ type }) => type === 'call').length
  if (asked <= limits.callsPerRoundMax) return []
  const text = `The model asked for ${asked} calls at once; only the first ${limits.callsPerRoundMax} are run.`
  return [{ type: 'note.added', turn, kind: 'notice', level: 'error', code: 'too_many_calls', text }]
}

function settleMalformed(event: Event, seq: number): Event[] {
  if (event.type !== 'call.requested' || event.malformed === undefined) return []
  const output = { text: `The arguments could not be read: ${event.malformed}` }
  return [settle(CallId.parse(seq), { type: 'failed', output })]
}

/** Ends an answered turn, unless a Stop hook makes it go on, or a prompt steers it. */
export function finishTurn(state: SessionState, report: ReportOf<'turn.finishing'>): Events {
  invariant(state.turn.phase === 'preparing', 'a turn ends between rounds')
  if (!state.turn.isAnswered || state.queue.some(({ queue }) => queue === 'steering')) return []
  const onward = goOn(state, report)
  if (onward) return onward
  const { turn, hooks } = report
  return [...hooksRan(state, hooks?.runs), ...tooOften(state, report), ...endTurn(state, turn)]
}

/** Ends the turn; the oldest waiting follow-up becomes the next one. Waiting results of subagents join in one turn. */
function endTurn(state: SessionState, turn: TurnNumber): Events {
  const next = nextFollowUps(state)
  const ended: Event = { type: 'turn.ended', turn, reason: 'done' }
  return next.length === 0 ? [ended] : [ended, ...followUp(state, next)]
}

/** Adds a notice: what failed, how long until the next try, and how many tries there are. */
export function noteRetry({ turn }: SessionState, report: ReportOf<'model.retrying'>): Events {
  invariant(turn.phase === 'thinking', 'only a step is tried again')
  const { fault, happened = fault.message, waitMs, tries } = report
  const text = `${happened} Trying again in ${Number((waitMs / 1000).toFixed(1))} s: try ${tries + 1} of ${limits.retriesMax + 1}.`
  return [{ type: 'note.added', turn: turn.number, kind: 'notice', level: 'info', code: 'retry', text }]
}

/** Returns the model that answers instead: one that a person chose meanwhile, else the fallback. */
function successor({ turn, settings }: SessionState, { fallback }: ReportOf<'model.failed'>): ModelName | null {
  if (fallback === undefined || turn.phase !== 'thinking') return null
  const isTried = turn.model === settings.model || turn.fallback?.tried.includes(settings.model)
  return isTried ? fallback : settings.model
}

/** Lets another model answer for the rest of the turn. */
function fallBack({ turn }: SessionState, failed: ReportOf<'model.failed'>, fallback: ModelName): Events {
  invariant(turn.phase === 'thinking' && failed.parts.length === 0, 'only a model without any output falls back')
  const { number, step, model } = turn
  const { fault, happened = fault.message, usage } = failed
  const text = `${model} does not answer: ${happened} ${fallback} answers instead for the rest of this turn.`
  return [
    { type: 'step.ended', turn: number, step, finish: 'failed', usage, fault, fallback },
    { type: 'note.added', turn: number, kind: 'notice', level: 'info', code: 'fallback', text },
  ]
}
