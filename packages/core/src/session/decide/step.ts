import {
  CallId,
  type Event,
  invariant,
  limits,
  type ModelFault,
  providerOf,
  type StepId as Step,
  TurnNumber,
} from '@holdfast/protocol'
import type { SaidPart } from '../../ports/provider.ts'
import type { Report } from '../input.ts'
import { modelNow, type SessionState } from '../state.ts'
import { limitReached } from './budget.ts'
import { compacted } from './checkpoint.ts'
import { fallBack, successor } from './retry.ts'

type Prepared = Extract<Report, { type: 'step.prepared' }>
type Ended = Extract<Report, { type: 'model.replied' | 'model.failed' }>

/** Starts the next step. The round is closed, so waiting steering prompts are added before the model call. */
export function beginStep(state: SessionState, { turn, system, tools, checkpoint }: Prepared): readonly Event[] {
  invariant(state.turn.phase === 'preparing', 'a step begins between rounds')
  const steering = state.queue.filter(({ queue }) => queue === 'steering')
  if (state.turn.isAnswered && steering.length === 0) return endTurn(state, turn) // the steering prompt was taken back
  const limit = limitReached(state, state.turn.steps)
  if (limit !== null) {
    return [
      { type: 'note.added', turn, kind: 'notice', level: 'info', ...limit },
      { type: 'turn.ended', turn, reason: 'limit' },
    ]
  }
  const { thinkingLevel } = state.settings
  const isTold = state.context?.system === system && state.context.tools === tools
  return [
    ...compacted(state, checkpoint),
    ...steering.map(({ id, content }): Event => ({ type: 'user.said', turn, content, entry: id })),
    ...(isTold ? [] : [{ type: 'context.changed', system, tools } as const]),
    { type: 'step.started', turn, model: modelNow(state), thinkingLevel, attempt: state.turn.attempt },
  ]
}

/** Records the model's answer and calls. Without calls the turn ends, unless a prompt steers it. */
export function endStep(state: SessionState, ended: Ended): readonly Event[] {
  invariant(state.turn.phase === 'thinking', 'an answer needs a step')
  const { number: turn } = state.turn
  const { step, usage } = ended
  if (ended.type === 'model.failed') {
    const { fault } = ended
    const next = successor(state, ended)
    if (next !== null) return fallBack(state, ended, next)
    return [
      ...said(state, step, ended.parts, true),
      { type: 'step.ended', turn, step, finish: 'failed', usage, fault },
      { type: 'turn.ended', turn, reason: 'failed', fault },
    ]
  }
  const spoken = said(state, step, ended.parts, false)
  const events: Event[] = [
    ...spoken,
    {
      type: 'step.ended',
      turn,
      step,
      finish: ended.finish,
      usage,
      ...(ended.estimate && { estimate: ended.estimate }),
    },
    ...tooManyCalls(turn, ended.parts),
  ]
  const isSteered = state.queue.some(({ queue }) => queue === 'steering')
  if (!spoken.some(({ type }) => type === 'call.requested'))
    return isSteered ? events : [...events, ...endTurn(state, turn)]
  return [...events, ...spoken.flatMap((event, index) => settleMalformed(event, state.seq + 1 + index))]
}

export function failTurn(state: SessionState, fault: ModelFault): readonly Event[] {
  invariant(state.turn.phase !== 'idle', 'only a turn can fail')
  return [{ type: 'turn.ended', turn: state.turn.number, reason: 'failed', fault }]
}

/** Returns the events of an answer. One that was cut keeps its text and loses its calls, which may be incomplete. */
export function said(state: SessionState, step: Step, parts: readonly SaidPart[], isCut: boolean): readonly Event[] {
  invariant(state.turn.phase === 'thinking', 'only a thinking session speaks')
  const { number: turn } = state.turn
  const provider = providerOf(state.turn.model)
  const kept = isCut ? parts.filter(({ type }) => type !== 'call') : parts
  let calls = 0
  return kept.flatMap((part, index): Event[] => {
    const meta = part.meta && { meta: { ...part.meta } }
    if (part.type === 'call') {
      if (++calls > limits.callsPerRoundMax) return []
      const malformed = part.malformed === undefined ? {} : { malformed: part.malformed }
      return [
        {
          type: 'call.requested',
          turn,
          step,
          tool: part.tool,
          args: { ...part.args },
          provider,
          ...meta,
          ...malformed,
        },
      ]
    }
    if (part.text === '' && part.meta === undefined) return []
    const interrupted = isCut && index === kept.length - 1 && { interrupted: true as const }
    const type = part.type === 'text' ? 'text.said' : 'thinking.said'
    return [{ type, turn, step, text: part.text, provider, ...meta, ...interrupted }]
  })
}

/** Adds a notice about calls over the limit. They are not recorded, so the model never waits for them. */
function tooManyCalls(turn: TurnNumber, parts: readonly SaidPart[]): readonly Event[] {
  const asked = parts.filter(({ type }) => type === 'call').length
  if (asked <= limits.callsPerRoundMax) return []
  const text = `The model asked for ${asked} calls at once; the first ${limits.callsPerRoundMax} were taken.`
  return [{ type: 'note.added', turn, kind: 'notice', level: 'error', code: 'too_many_calls', text }]
}

function settleMalformed(event: Event, seq: number): Event[] {
  if (event.type !== 'call.requested' || event.malformed === undefined) return []
  const output = { text: `The arguments could not be read: ${event.malformed}` }
  return [{ type: 'call.settled', call: CallId.parse(seq), outcome: { type: 'failed', output }, durationMs: null }]
}

/** Ends the turn; the oldest waiting follow-up becomes the next one. */
function endTurn(state: SessionState, turn: TurnNumber): readonly Event[] {
  const next = state.queue.find(({ queue }) => queue === 'follow_up')
  const ended: Event = { type: 'turn.ended', turn, reason: 'done' }
  if (!next) return [ended]
  const number = TurnNumber.parse(state.turns)
  return [
    ended,
    { type: 'turn.started', turn: number, cause: 'follow_up' },
    { type: 'user.said', turn: number, content: next.content, entry: next.id },
  ]
}
