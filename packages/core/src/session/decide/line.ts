import {
  type BranchName,
  clipLine,
  type Event,
  type Fault,
  fault,
  type Line,
  type LineLength,
  limits,
  ok,
  refuse,
  type SeedMessages,
  type Seq,
  textTokens,
} from '@holdfast/protocol'
import type { Facts } from '../facts.ts'
import type { CommandOf, Decided } from '../input.ts'
import { checkpointFor, checkpointOn, closedAt, goingOn, lengthOf, nameToKeep } from '../line.ts'
import type { SessionState } from '../state.ts'
import { turnRunning } from './prompt.ts'
import { seed } from './seed.ts'

type Move = {
  readonly line: Line
  readonly length: LineLength
  readonly checkpoint: Seq | null
  readonly name: BranchName | null
  readonly why: 'branch' | 'switch' | 'rewind' | 'history'
  readonly shown: Facts['shown']
}

/** Moves to another line and keeps the one that is left as a branch. */
function move(state: SessionState, { line, length, checkpoint, name, why, shown }: Move): Event {
  const { turns, messages } = lengthOf(state)
  return {
    type: 'line.moved',
    to: goingOn(line, state.seq + 2), // the new span begins after this record: a line without messages leaves no span
    ...length,
    checkpoint,
    keep: { name: nameToKeep(state), turns, messages, ...(why === 'history' && { hidden: true as const }) },
    name,
    why,
    ...(shown && { shown }),
  }
}

/** Goes back to the end of a turn: to try again (`branch`), or to discard the rest (`rewind`). */
export function returnToTurnEnd(
  state: SessionState,
  why: 'branch' | 'rewind',
  turn: number,
  { end, shown }: Facts,
): Decided {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  if (!end) return refuse(turnNotFound(state, turn))
  if (isFull(state)) return refuse(tooMany)
  const { seq, ...length } = end
  const line = closedAt(state.line, seq)
  return ok([move(state, { line, length, checkpoint: checkpointFor(state, line), name: null, why, shown })])
}

export function switchBranch(state: SessionState, asked: BranchName | number, { shown }: Facts): Decided {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  if (asked === state.branch) return ok([])
  const branch = findBranch(state, asked)
  if (!branch) {
    const known = state.branches.map(({ name }) => name)
    return refuse(fault('branch_not_found', `There is no branch ${asked}.`, { branch: asked, known }))
  }
  if (state.line.length >= lineSpansMax) return refuse(tooMany)
  const { line, turns, messages, tokens, last, name } = branch
  const isActive = state.checkpoints.some(({ seq }) => seq === branch.checkpoint) // it may have been undone on another line
  const checkpoint = isActive ? branch.checkpoint : (checkpointOn(state.checkpoints, line)?.seq ?? null)
  return ok([move(state, { line, length: { turns, messages, tokens, last }, checkpoint, name, why: 'switch', shown })])
}

export const findBranch = ({ branches }: SessionState, asked: BranchName | number) =>
  typeof asked === 'number' ? branches[asked] : branches.find(({ name }) => name === asked)

/** Shows only the last messages. Turns keep their numbers. */
export function truncateHistory(state: SessionState, command: CommandOf<'truncateHistory'>, facts: Facts): Decided {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  const { keepLast = facts.keepFrom?.messages ?? 0 } = command
  if (command.keepLast === undefined ? (command.from ?? 0) <= (state.line[0]?.from ?? 0) : keepLast >= state.messages)
    return ok([])
  const from = command.from ?? (keepLast === 0 ? state.seq + 1 : (facts.keepFrom?.seq ?? state.seq + 1))
  const line = clipLine(state.line, from, state.seq).map((span) => ({ ...span }))
  const summaryTokens = state.checkpoints.find(({ seq }) => seq === state.checkpoint)?.summaryTokens ?? 0
  const length = { ...lengthOf(state), messages: keepLast, tokens: summaryTokens + (facts.keepFrom?.tokens ?? 0) }
  // The checkpoint stays: the model keeps the summary, however few messages are shown.
  return ok([
    move(state, { line, length, checkpoint: state.checkpoint, name: null, why: 'history', shown: facts.shown }),
  ])
}

/** Replaces the history; the former line is kept as a branch. */
export function setHistory(state: SessionState, messages: SeedMessages, { setSummary }: Facts): Decided {
  if (state.turn.phase !== 'idle') return refuse(turnRunning)
  const none: LineLength = { ...lengthOf(state), turns: 0 as LineLength['turns'], messages: 0, tokens: 0, last: null }
  const shown = { preview: '', recent: [] }
  const moved = move(state, { line: [], length: none, checkpoint: null, name: null, why: 'history', shown })
  const summary = setSummary === undefined ? [] : [summaryOf(setSummary, state.seq + 3)]
  const seeded = seed({ seq: state.seq + 1 + summary.length, turns: 0 }, messages)
  return seeded.ok ? ok([moved, ...summary, ...seeded.value]) : seeded
}

/**
 * Repeats the summary that a program set: it applies to any history. A compaction's summary belongs to the former line.
 */
function summaryOf(summary: string, keepFrom: Seq): Event {
  const tokensAfter = textTokens(summary)
  const turn = 0 as LineLength['turns'] // of a new line
  return { type: 'checkpoint.written', turn, summary, keepFrom, tokensBefore: 0, tokensAfter, why: 'made' }
}

/** Whether the session has too many branches, or its line too many spans. */
const isFull = ({ branches, line }: SessionState): boolean =>
  branches.filter(({ hidden }) => !hidden).length >= branchesMax || line.length >= lineSpansMax

const { branchesMax, lineSpansMax } = limits
const tooMany = fault(
  'too_large',
  `This session has ${branchesMax} branches, or was moved more than ${lineSpansMax} times. Fork it and continue there.`,
  { branchesMax, lineSpansMax },
)

/** Names the turn that was asked for; without one, the last finished turn was. */
export function turnNotFound({ turns }: Pick<SessionState, 'turns'>, turn?: number): Fault {
  const known = turns === 1 ? 'Its only turn is 0.' : `Its turns are 0 to ${turns - 1}.`
  const isNone = turns === 0 || turn === undefined
  const message = isNone
    ? 'This session has no finished turn yet.'
    : `This session has no finished turn ${turn}. ${known}`
  return fault('turn_not_found', message, { turns })
}

/** Records a fork. Its id is recorded before it is created, so that a retry creates no second one. */
export function fork(state: SessionState, at: number | undefined, { end, fork: id }: Facts): Decided {
  if (!end || id === undefined) return refuse(turnNotFound(state, at))
  const shared = goingOn(closedAt(state.line, end.seq), end.seq + 1)
  return ok([{ type: 'session.forked', fork: id, base: end.seq, line: shared }])
}
