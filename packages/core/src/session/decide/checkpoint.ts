import { type Event, eventTokens, fault, isOnLine, limits, ok, refuse, textTokens } from '@holdfast/protocol'
import type { Facts, NewCheckpoint } from '../facts.ts'
import type { CommandOf, Decided, Events, ReportOf } from '../input.ts'
import { checkpointOn } from '../line.ts'
import { compactionFailed, type SessionState } from '../state.ts'
import { hooksRan } from './hook.ts'
import { turnNow } from './message.ts'
import { turnRunning } from './prompt.ts'
import { seed } from './seed.ts'

const nothing = fault('nothing_to_compact', 'There is nothing to summarise yet: the last messages always stay.')

const outdated = fault(
  'nothing_to_compact',
  'Another summary or another line came first, so this summary no longer applies. Compact again.',
)

/** Returns the checkpoint that applies to the line. */
const activeCheckpoint = ({ checkpoints, checkpoint }: SessionState) =>
  checkpoints.find(({ seq }) => seq === checkpoint)

/** Whether a summary still applies: the line may have moved, or another summary came first. */
const stillFits = (state: SessionState, { keepFrom }: NewCheckpoint): boolean =>
  isOnLine(state.line, keepFrom) && keepFrom > (activeCheckpoint(state)?.keepFrom ?? 0)

/** Records the summary of everything before `keepFrom`. Newer messages come after it. */
export function compact(state: SessionState, { checkpoint, hooks }: Facts): Decided {
  if (!checkpoint) return refuse(state.turn.phase === 'idle' ? nothing : turnRunning)
  if (!stillFits(state, checkpoint)) return refuse(outdated)
  return ok([written(state, checkpoint, 'asked'), ...hooksRan(state, hooks?.runs)])
}

/** Records the result of an automatic compaction, before the next step. A failure does not stop the turn. */
export function compacted(state: SessionState, result: ReportOf<'step.prepared'>['checkpoint']): Events {
  if (result === null) return []
  if (!('failed' in result)) return stillFits(state, result) ? [written(state, result, 'automatic')] : []
  const text = `The older messages could not be summarised: ${result.failed} The turn continues without.`
  return [{ type: 'note.added', turn: turnNow(state), kind: 'notice', level: 'error', code: compactionFailed, text }]
}

function written(state: SessionState, checkpoint: NewCheckpoint, why: 'automatic' | 'asked'): Event {
  const { savedTokens, ...rest } = checkpoint
  const tokensBefore = state.tokens
  const tokensAfter = Math.max(tokensBefore - savedTokens, textTokens(checkpoint.summary))
  return { type: 'checkpoint.written', turn: turnNow(state), ...rest, tokensBefore, tokensAfter, why }
}

/** Undoes the active checkpoint if the whole line still fits the model. */
export function undoCompaction(state: SessionState, { contextTokens = limits.contextTokens }: Facts) {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  const undone = activeCheckpoint(state)
  if (!undone) return refuse(fault('nothing_to_compact', 'This line has no compaction to undo.'))
  const tokens = Math.max(state.tokens - undone.tokensAfter, 0) + undone.tokensBefore
  if (tokens > contextTokens) {
    const text = `The whole line has about ${tokens} tokens; the model accepts ${contextTokens}.`
    return refuse(fault('context_too_large', text, { tokens, tokensMax: contextTokens }))
  }
  const rest = state.checkpoints.filter(({ seq }) => seq !== undone.seq)
  const holds = checkpointOn(rest, state.line)?.seq ?? null
  return ok([{ type: 'checkpoint.undone', checkpoint: undone.seq, holds, tokens }] as const)
}

/** Replaces the summary; the model's view of the line stays. */
export function setSummary(state: SessionState, summary: string): Decided {
  const before = activeCheckpoint(state)
  const keepFrom = before?.keepFrom ?? state.line[0]?.from ?? 0
  const tokensBefore = state.tokens
  const tokensAfter = Math.max(tokensBefore - (before?.summaryTokens ?? 0), 0) + textTokens(summary)
  const turn = turnNow(state)
  const prompt = before?.prompt !== undefined && { prompt: before.prompt }
  const why = 'made'
  return ok([{ type: 'checkpoint.written', turn, summary, keepFrom, ...prompt, tokensBefore, tokensAfter, why }])
}

/** Adds a checkpoint with given messages: the model sees them, and nothing before them. */
export function appendCheckpoint(
  state: SessionState,
  { messages, tokenCount }: CommandOf<'appendCheckpoint'>,
  { windowTokens = state.tokens }: Facts,
): Decided {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  const seq = state.seq + 1
  const seeded = seed({ seq, turns: state.turns, awaited: state.awaited }, messages)
  if (!seeded.ok) return seeded
  const estimate = seeded.value.reduce((sum, event) => sum + eventTokens(event), 0)
  const { tokens: tokensBefore } = state
  // Tokens outside messages stay; the messages that follow in this batch are counted as they come.
  const tokensAfter = Math.max(tokensBefore - windowTokens, 0) + Math.max((tokenCount ?? estimate) - estimate, 0)
  const turn = turnNow(state)
  const why = 'made'
  return ok([
    { type: 'checkpoint.written', turn, summary: '', keepFrom: seq + 1, tokensBefore, tokensAfter, why },
    ...seeded.value,
  ])
}

/** Records where the summary file was saved; it was written before this decision. */
export function summarize(state: SessionState, { saved }: Facts): Decided {
  if (saved) return ok([{ type: 'summary.saved', turn: turnNow(state), ...saved }])
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  return refuse(fault('nothing_to_summarize', 'This session has no messages to summarise yet.'))
}
