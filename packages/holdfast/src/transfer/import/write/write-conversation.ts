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
} from '@holdfast/protocol'
import type { ImportedConversation, ImportedMessage, Remark } from '../parse/conversation.ts'
import { createPast, type Past } from './past.ts'
import type { Stored } from './stored-parts.ts'
import { writeLine } from './write-line.ts'

/** Where a turn has ended, on whatever line: what the next line may go on from. */
type Mark = { readonly line: Line; readonly length: LineLength; readonly checkpoint: Seq | null }

export type WriteDeps = {
  readonly session: SessionId
  readonly started: EventOf<'session.started'>
  readonly createdAt: number
  readonly stored: Stored
  readonly remark: Remark
}

/** The records of a conversation: the lines that were left first, the line it stands on last. */
export function writeConversation(conversation: ImportedConversation, parts: WriteDeps): Past {
  const { session, started, createdAt, stored, remark } = parts
  const past = createPast({ session, parent: null, base: 0 })
  past.add(started, createdAt)
  const marks = new Map<ImportedMessage | null, Mark>([[null, markOf(past)]])
  const begins = new Map<ImportedMessage, number>()
  const timeOf = createTimes(conversation, createdAt)
  const atRest = (last: ImportedMessage) => marks.set(last, markOf(past))
  const writing = { past, stored, remark, timeOf, atRest, begins }

  const branches = conversation.branches.slice(-limits.branchesMax)
  if (branches.length < conversation.branches.length)
    remark(
      null,
      'branch_dropped',
      `${conversation.branches.length - branches.length} more lines than a session can keep were left out.`,
    )
  let leaving: string | null = null
  for (const [index, line] of [...branches, { name: null, messages: conversation.messages }].entries()) {
    const from = sharedWith(marks, line.messages)
    const mark = marks.get(from === 0 ? null : (line.messages[from - 1] ?? null))
    const isSame = mark !== undefined && mark.line.at(-1)?.to === past.next - 1
    if (index > 0 && mark && !isSame) {
      const first = line.messages[from] ?? line.messages.at(-1)
      past.add(moveTo(past, mark, leaving), first ? timeOf(first) : createdAt)
    }
    writeLine(writing, line.messages, from)
    leaving = line.name
  }
  return past
}

/** How much of a line is written already, up to the end of a turn. */
function sharedWith(marks: ReadonlyMap<ImportedMessage | null, Mark>, messages: readonly ImportedMessage[]): number {
  const at = messages.findLastIndex((message, index) => marks.has(message) && beginsTurn(messages[index + 1]))
  return at + 1
}

const beginsTurn = (message: ImportedMessage | undefined): boolean => message === undefined || message.role === 'user'

function markOf(past: Past): Mark {
  const { state } = past.folded
  const line = clipLine(state.line, 0, past.next - 1).map(({ from, to }) => ({ from, to }))
  return { line, length: lengthOf(state), checkpoint: state.checkpoint }
}

function lengthOf({ turns, messages, tokens, turn }: SessionState): LineLength {
  const last = turn.phase === 'idle' && turn.last ? { turn: turn.last.number, reason: turn.last.reason } : null
  return { turns: turns as LineLength['turns'], messages, tokens, last } // counted in turns since the first
}

function moveTo(past: Past, { line, length, checkpoint }: Mark, called: string | null): Event {
  const { state } = past.folded
  const name = nameFor(state, called)
  const { turns, messages } = lengthOf(state)
  return {
    type: 'line.moved',
    to: [...line, { from: past.next + 1, to: null }],
    ...length,
    checkpoint,
    keep: { name, turns, messages },
    name: null,
    why: 'branch',
  }
}

/** The name it had, where that is one and free; otherwise the next number. */
function nameFor({ branches, branchesNamed }: SessionState, called: string | null): BranchName {
  const own = BranchName.safeParse(called)
  const isFree = (name: string) => branches.every((one) => one.name !== name)
  if (own.success && isFree(own.data)) return own.data
  for (let number = branchesNamed + 1; ; number++) {
    const name = `branch-${number}`
    if (isFree(name)) return name as BranchName // it has the form by its making
  }
}

/** A message without a time was said when the one before it was; the last one when the file says the session was used last. */
function createTimes(
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
