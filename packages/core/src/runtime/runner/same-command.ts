import { createHash } from 'node:crypto'
import {
  type Command,
  type CommandId,
  type CommandType,
  type Event,
  type EventType,
  type Fault,
  fault,
  type Recorded,
  type SessionId,
} from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'

const hashChars = 22

/** Returns a hash of what a parsed command says. Parsing gives its fields one order. */
export function hashCommand(command: Command): string {
  // A client event is identified by its content, in any order: whether the events are complete now is not part of it.
  const text =
    command.type === 'appendClientEvent' ? JSON.stringify(command.event, sortFields) : JSON.stringify(command)
  return createHash('sha256').update(text).digest('base64url').slice(0, hashChars)
}

const sortFields = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)))
    : value

type Sent = { readonly commandId: CommandId; readonly command: Command }

/** Returns a fault if the command that wrote `first` under this id was another one. */
export async function findReuse(
  log: Pick<Log, 'commandHash'>,
  session: SessionId,
  { commandId, command }: Sent,
  first: Recorded,
): Promise<Fault | null> {
  const hash = await log.commandHash(session, commandId)
  const isSame = hash === null ? mayHaveWritten(command.type, first.event) : hash === hashCommand(command)
  return isSame ? null : commandIdReused(commandId, first.seq)
}

/** `seq` is where the other command is on record; null if it recorded nothing. */
export function commandIdReused(commandId: CommandId, seq: number | null): Fault {
  const where = seq === null ? '' : `, at seq ${seq}`
  const message = `The command id ${commandId} was used for another command${where}. Nothing was done. Use a new id.`
  return fault('command_id_reused', message, { commandId, ...(seq !== null && { seq }) })
}

const unrecordedMax = 1000

/**
 * Remembers commands that were accepted and recorded nothing, such as an abort without a turn, so that another command
 * under the same id is refused. Only the latest, and only in this process: the log does not know them.
 */
export function createUnrecorded() {
  const hashes = new Map<CommandId, string>()
  return {
    remember({ commandId, command }: Sent): void {
      hashes.delete(commandId) // the latest are last
      hashes.set(commandId, hashCommand(command))
      const [oldest] = hashes.keys()
      if (hashes.size > unrecordedMax && oldest !== undefined) hashes.delete(oldest)
    },
    /** Returns a fault if another command with this id was accepted. */
    findReuse({ commandId, command }: Sent): Fault | null {
      const known = hashes.get(commandId)
      return known === undefined || known === hashCommand(command) ? null : commandIdReused(commandId, null)
    },
  }
}

/** Returns whether a command of this type can have written this event first. */
export function mayHaveWritten(type: CommandType, event: Event): boolean {
  const writers =
    event.type === 'settings.changed'
      ? Object.keys(event).flatMap((name) => settingWriters[name] ?? [])
      : firstWriters[event.type]
  return writers === undefined || writers.includes(type)
}

/** The commands that can write an event of this type first. Any command is accepted for a type that is not listed. */
const firstWriters: { readonly [Type in EventType]?: readonly CommandType[] } = {
  'turn.started': ['sendPrompt', 'queueSteering', 'queueFollowUp', 'continue', 'seedMessages'],
  'prompt.queued': ['sendPrompt', 'queueSteering', 'queueFollowUp'],
  'queue.edited': ['editQueueEntry'],
  'queue.removed': ['recallQueues', 'clearQueues', 'dequeueSteering', 'removeQueueEntry'],
  'queue.reordered': ['reorderQueue'],
  'call.approved': ['respondToApproval', 'setToolTrust'],
  'question.answered': ['respondToApproval'],
  'trust.granted': ['respondToApproval', 'setToolTrust'],
  'trust.revoked': ['revokeToolTrust'],
  'line.moved': ['branchAt', 'switchBranch', 'rewind', 'truncateHistory', 'setHistory'],
  'session.forked': ['fork'],
  'message.pinned': ['togglePin', 'enterExec'],
  'message.collapsed': ['toggleToolCollapse', 'toggleAllToolCollapses'],
  'note.added': ['addSystemMessage', 'sendPrompt', 'queueSteering', 'queueFollowUp'],
  'checkpoint.written': ['compact', 'appendCheckpoint', 'setSummary', 'setHistory', 'truncateHistory'],
  'checkpoint.undone': ['undoCompaction', 'setSummary', 'setHistory', 'truncateHistory'],
  'summary.saved': ['summarize'],
  'files.restored': ['restoreFiles'],
  'client.said': ['appendClientEvent'],
}

/** The commands that change a setting. */
const settingWriters: { readonly [name: string]: readonly CommandType[] } = {
  title: ['rename'],
  pinned: ['pinSession'],
  workdir: ['moveWorkdir'],
  budgets: ['setBudgets'],
  approvals: ['setApprovals'],
  mode: ['enterPlan', 'enterExec'],
  serversOff: ['setServer'],
  model: ['setModel', 'cycleModel'],
  thinkingLevel: ['setThinkingLevel', 'cycleThinkingLevel', 'setModel', 'cycleModel'],
}
