import {
  type BranchName,
  clipLine,
  type EventOf,
  type Fork,
  isOnLine,
  type Line,
  type LineLength,
  moveBranches,
  type Seq,
  textTokens,
} from '@holdfast/protocol'
import type { Checkpoint, SessionState } from './state.ts'

/** Returns the line up to and including `upTo`, closed. */
export const closedAt = (line: Line, upTo: Seq): Line => clipLine(line, 0, upTo).map(({ from, to }) => ({ from, to }))

/** Returns a line that continues: new messages, from `next`, belong to its last span. */
export const goingOn = (line: Line, next: Seq): Line => [...line, { from: next, to: null }]

/** Finds the newest checkpoint on the line. */
export const checkpointOn = (checkpoints: readonly Checkpoint[], line: Line): Checkpoint | null =>
  checkpoints.findLast(({ seq }) => isOnLine(line, seq)) ?? null

/** Returns the active checkpoint if truncation left its record outside the line. */
export const cutOff = ({ checkpoint, line }: SessionState): Seq | null =>
  checkpoint !== null && !isOnLine(line, checkpoint) ? checkpoint : null

/** Returns the checkpoint that applies to a part of the line: one on it, or the one outside it. */
export const checkpointFor = (state: SessionState, line: Line): Seq | null =>
  checkpointOn(state.checkpoints, line)?.seq ?? cutOff(state)

/** Returns the length of the current line. */
export function lengthOf({ turns, messages, tokens, turn }: SessionState): LineLength {
  const last = turn.phase === 'idle' && turn.last ? { turn: turn.last.number, reason: turn.last.reason } : null
  return { turns: turns as LineLength['turns'], messages, tokens, last } // the state counts turns
}

/** Returns the name under which the line is kept as a branch. */
export function nameToKeep({ branch, branches, branchesNamed }: SessionState): BranchName {
  if (branch !== null) return branch
  for (let number = branchesNamed + 1; ; number++) {
    const name = `branch-${number}`
    if (branches.every((one) => one.name !== name)) return name as BranchName // built in the form of a branch name
  }
}

type Moved = EventOf<'line.moved'>

/** Moves to another line and keeps the one that was left. */
export function moveLine(state: SessionState, seq: Seq, at: string, event: Moved): SessionState {
  const { to, turns, messages, tokens, last, keep, name, checkpoint } = event
  const line = closedAt(state.line, seq - 1)
  const hidden = keep.hidden && { hidden: keep.hidden }
  const kept = { ...lengthOf(state), name: keep.name, at, line, checkpoint: state.checkpoint, ...hidden }
  const named = Number(/^branch-(\d{1,9})$/.exec(keep.name)?.[1] ?? 0)
  const branches = moveBranches(state.branches, kept, name)
  return {
    ...state,
    line: to,
    branch: name,
    turns,
    messages,
    tokens,
    checkpoint,
    branches,
    branchesNamed: Math.max(state.branchesNamed, named),
    lastAnswer: null,
    seen: [], // the model no longer has what it was shown
    turn: { phase: 'idle', last: last && { number: last.turn, reason: last.reason } },
  }
}

/** Returns the state a fork begins with. Every field is listed: a new one has to say whether it is inherited. */
export function inherit(started: SessionState, fork: Fork): SessionState {
  const { line, turns, messages, tokens, last, checkpoints, pins, skills = [] } = fork
  const { seq, origin, settings } = started // the settings are part of the fork's first event
  const { isPinned, context, branch, isEstimate, branches, branchesNamed, compaction, queue, trust } = started
  const { boundaries, seen, todos, children, collapse, lastAnswer, awaited, clientEventsComplete } = started
  const { used, payer, turnUsage } = started
  return {
    seq,
    origin,
    settings,
    // Shared with the parent.
    line,
    turns,
    messages,
    tokens,
    checkpoints,
    pins,
    skills,
    checkpoint: (checkpointOn(checkpoints, line) ?? checkpoints.at(-1))?.seq ?? null,
    turn: { phase: 'idle', last: last && { number: last.turn, reason: last.reason } },
    // Begins anew.
    isPinned,
    context,
    branch,
    isEstimate,
    branches,
    branchesNamed,
    compaction,
    queue,
    trust,
    boundaries,
    seen,
    todos,
    children,
    collapse,
    lastAnswer,
    awaited,
    clientEventsComplete,
    used,
    payer,
    turnUsage,
  }
}

const checkpointsMax = 1000

export function addCheckpoint(state: SessionState, seq: Seq, event: EventOf<'checkpoint.written'>): SessionState {
  const { keepFrom, tokensBefore, tokensAfter } = event
  const prompt = event.prompt !== undefined && { prompt: event.prompt }
  const mark = { seq, keepFrom, tokensBefore, tokensAfter, summaryTokens: textTokens(event.summary), ...prompt }
  const checkpoints = [...state.checkpoints, mark].slice(-checkpointsMax)
  return { ...state, checkpoints, checkpoint: seq, compaction: { isUndone: false, failedAt: null } }
}

export function dropCheckpoint(state: SessionState, event: EventOf<'checkpoint.undone'>): SessionState {
  const checkpoints = state.checkpoints.filter(({ seq }) => seq !== event.checkpoint)
  return { ...state, checkpoints, checkpoint: event.holds, compaction: { isUndone: true, failedAt: null } }
}
