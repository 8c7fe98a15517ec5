import type { SessionState } from '@holdfast/core'
import {
  BranchName,
  clipLine,
  type Event,
  type EventOf,
  type Line,
  type LineLength,
  limits,
  type Seq,
  type SessionId,
  StepId,
  TurnNumber,
  type Usage,
} from '@holdfast/protocol'
import type { ImportedConversation, ImportedMessage, Remark } from '../parse/conversation.ts'
import { createImportedLog, type ImportedLog, type LogBatch } from './imported-log.ts'
import type { StoredContent } from './store-content.ts'
import { writeLine } from './write-line.ts'

/** The state after a turn, from which another line may continue. */
type TurnEnd = { readonly line: Line; readonly length: LineLength; readonly checkpoint: Seq | null }

type WriteDeps = {
  readonly session: SessionId
  readonly started: EventOf<'session.started'>
  readonly createdAt: number
  readonly stored: StoredContent
  readonly remark: Remark
}

/**
 * Writes the records of a conversation in batches: its branches first, the current line last. Returns the number of its
 * messages.
 */
export function* writeConversation(conversation: ImportedConversation, deps: WriteDeps): Generator<LogBatch, number> {
  const { session, started, createdAt, stored, remark } = deps
  const log = createImportedLog({ session, parent: null, base: 0 })
  log.add(started, createdAt)
  const turnEnds = new Map<ImportedMessage | null, TurnEnd>([[null, createTurnEnd(log)]])
  const begins = new Map<ImportedMessage, number>()
  const timeOf = createTimeLookup(conversation, createdAt)
  const onTurnEnd = (last: ImportedMessage) => turnEnds.set(last, createTurnEnd(log))
  const total = conversation.about.usage
  const writing = { log, stored, remark, timeOf, onTurnEnd, begins, knowsTotal: total !== undefined }

  const branches = conversation.branches.slice(-limits.branchesMax)
  const left = conversation.branches.length - branches.length
  if (left > 0) remark(null, 'branch_dropped', `${left} more lines than a session can keep were left out.`)
  let leaving: string | null = null
  for (const [index, line] of [...branches, { name: null, messages: conversation.messages }].entries()) {
    // The messages that are already written, up to the end of a turn.
    const from =
      1 + line.messages.findLastIndex((message, at) => turnEnds.has(message) && beginsTurn(line.messages[at + 1]))
    const mark = turnEnds.get(from === 0 ? null : (line.messages[from - 1] ?? null))
    const isSame = mark !== undefined && mark.line.at(-1)?.to === log.nextSeq() - 1
    if (index > 0 && mark && !isSame) {
      const first = line.messages[from] ?? line.messages.at(-1)
      log.add(createMove(log, mark, leaving), first ? timeOf(first) : createdAt)
    }
    for (const _ of writeLine(writing, line.messages, from)) yield* log.takeFull()
    leaving = line.name
  }
  const last = conversation.messages.at(-1)
  if (total && last) writeRemainder(log, total, timeOf(last))
  yield* log.takeAll()
  return log.folded().row.entry.meta.messageCount
}

/** Adds what the session used in total and its messages do not say. */
function writeRemainder(log: ImportedLog, total: Usage, at: number): void {
  const { state, row } = log.folded()
  const known = row.entry.meta.usage
  const rest = (name: 'input' | 'output' | 'cacheRead' | 'cacheWrite') => Math.max(0, total[name] - known[name])
  const cost = total.cost === null || known.cost === null ? null : Math.max(0, total.cost - known.cost)
  const usage = {
    input: rest('input'),
    output: rest('output'),
    cacheRead: rest('cacheRead'),
    cacheWrite: rest('cacheWrite'),
    cost: cost === null ? null : Number(cost.toFixed(costDigits)), // without the error of the subtraction
  }
  if (usage.cost === 0 && usage.input + usage.output + usage.cacheRead + usage.cacheWrite === 0) return
  const turn = TurnNumber.parse(Math.max(0, state.turns - 1))
  log.add({ type: 'step.ended', turn, step: StepId.parse(log.nextSeq()), finish: 'stop', usage }, at)
}

const costDigits = 9

const beginsTurn = (message: ImportedMessage | undefined): boolean => message === undefined || message.role === 'user'

function createTurnEnd(log: ImportedLog): TurnEnd {
  const { state } = log.folded()
  const line = clipLine(state.line, 0, log.nextSeq() - 1).map(({ from, to }) => ({ from, to }))
  return { line, length: getLineLength(state), checkpoint: state.checkpoint }
}

function getLineLength({ turns, messages, tokens, turn }: SessionState): LineLength {
  const last = turn.phase === 'idle' && turn.last ? { turn: turn.last.number, reason: turn.last.reason } : null
  return { turns: turns as LineLength['turns'], messages, tokens, last } // a count of turns
}

function createMove(log: ImportedLog, { line, length, checkpoint }: TurnEnd, wanted: string | null): Event {
  const { state } = log.folded()
  const { turns, messages } = getLineLength(state)
  const keep = { name: chooseBranchName(state, wanted), turns, messages }
  const to = [...line, { from: log.nextSeq() + 1, to: null }]
  return { type: 'line.moved', to, ...length, checkpoint, keep, name: null, why: 'branch' }
}

/** Returns the branch's own name if it is valid and free; otherwise a numbered one. */
function chooseBranchName({ branches, branchesNamed }: SessionState, wanted: string | null): BranchName {
  const own = BranchName.safeParse(wanted)
  const isFree = (name: string) => branches.every((one) => one.name !== name)
  if (own.success && isFree(own.data)) return own.data
  for (let number = branchesNamed + 1; ; number++) {
    const name = `branch-${number}`
    if (isFree(name)) return name as BranchName // valid by construction
  }
}

/** Finds the time of each message: its own, or that of the one before; the last one may use the file's `updatedAt`. */
function createTimeLookup(
  { about, messages, branches }: ImportedConversation,
  createdAt: number,
): (message: ImportedMessage) => number {
  const times = new Map<ImportedMessage, number>()
  for (const line of [...branches.map((branch) => branch.messages), messages]) {
    let latest = createdAt
    for (const message of line) {
      latest = message.at ?? times.get(message) ?? latest
      times.set(message, latest)
    }
  }
  const spoken = messages.findLastIndex(({ role }) => role === 'user' || role === 'assistant')
  if (about.updatedAt !== undefined && messages[spoken]?.at === null)
    for (const message of messages.slice(spoken)) times.set(message, Math.max(about.updatedAt, times.get(message) ?? 0))
  return (message) => times.get(message) ?? createdAt
}
