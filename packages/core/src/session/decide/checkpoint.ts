import {
  type Command,
  type Event,
  fault,
  isOnLine,
  limits,
  ok,
  type Result,
  refuse,
  textTokens,
} from '@holdfast/protocol'
import type { Facts, NewCheckpoint } from '../input.ts'
import { checkpointOn } from '../line.ts'
import { compactionFailed, type SessionState } from '../state.ts'
import { turnNow } from './message.ts'
import { turnRunning } from './prompt.ts'
import { seed } from './seed.ts'

const nothing = fault('nothing_to_compact', 'There is nothing to summarise yet: the last messages are always kept.')

const overtaken = fault('nothing_to_compact', 'The line has moved meanwhile, or another summary was quicker.')

/** Returns where the model's view of the line begins. */
const keptFrom = (state: SessionState): number =>
  state.checkpoints.find(({ seq }) => seq === state.checkpoint)?.keepFrom ?? 0

/** Whether a summary still applies: the line may have moved, or another summary came first. */
const stillFits = (state: SessionState, { keepFrom }: NewCheckpoint): boolean =>
  isOnLine(state.line, keepFrom) && keepFrom > keptFrom(state)

/** Records the summary of everything before `keepFrom`. Messages said meanwhile come after it. */
export function compact(state: SessionState, { checkpoint }: Facts): Result<readonly Event[]> {
  if (!checkpoint) return refuse(state.turn.phase === 'idle' ? nothing : turnRunning)
  if (!stillFits(state, checkpoint)) return refuse(overtaken)
  return ok([written(state, checkpoint, 'asked')])
}

/** What came of an automatic compaction, before the next step. It never holds up a turn. */
export function compacted(state: SessionState, came: NewCheckpoint | { readonly failed: string } | null): Event[] {
  if (came === null) return []
  if (!('failed' in came)) return stillFits(state, came) ? [written(state, came, 'automatic')] : []
  const text = `The past could not be summarised: ${came.failed} The turn goes on.`
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
  const undone = state.checkpoints.find(({ seq }) => seq === state.checkpoint)
  if (!undone) return refuse(fault('nothing_to_compact', 'No compaction holds on this line.'))
  const tokens = Math.max(state.tokens - undone.tokensAfter, 0) + undone.tokensBefore
  if (tokens > contextTokens) {
    const text = `The whole line is about ${tokens} tokens, and the model takes ${contextTokens}.`
    return refuse(fault('context_too_large', text, { tokens, tokensMax: contextTokens }))
  }
  const rest = state.checkpoints.filter(({ seq }) => seq !== undone.seq)
  const holds = checkpointOn(rest, state.line)?.seq ?? null
  return ok([{ type: 'checkpoint.undone', checkpoint: undone.seq, holds, tokens }] as const)
}

/** Replaces the summary; the model's view of the line stays. */
export function setSummary(state: SessionState, summary: string): Result<readonly Event[]> {
  const before = state.checkpoints.find(({ seq }) => seq === state.checkpoint)
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
  { messages, tokenCount }: Extract<Command, { type: 'appendCheckpoint' }>,
  { windowTokens = state.tokens }: Facts,
): Result<readonly Event[]> {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  const seq = state.seq + 1
  const seeded = seed({ seq, turns: state.turns, awaited: state.awaited }, messages)
  if (!seeded.ok) return seeded
  const estimate = messages.reduce((sum, { content }) => sum + textTokens(content), 0)
  return ok([
    {
      type: 'checkpoint.written',
      turn: turnNow(state),
      summary: '',
      keepFrom: seq + 1,
      tokensBefore: state.tokens,
      // Tokens outside messages stay; the messages that follow in this batch are counted as they come.
      tokensAfter: Math.max(state.tokens - windowTokens, 0) + Math.max((tokenCount ?? estimate) - estimate, 0),
      why: 'made',
    },
    ...seeded.value,
  ])
}

/** Records where the summary file was saved; it was written before this decision. */
export function summarize(state: SessionState, { saved }: Facts): Result<readonly Event[]> {
  if (saved) return ok([{ type: 'summary.saved', turn: turnNow(state), ...saved }])
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  return refuse(fault('nothing_to_summarize', 'Nothing has been said here yet.'))
}
