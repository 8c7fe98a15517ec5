import { z } from 'zod'
import type { Content } from '../value/content.ts'
import { type BlobHash, ClientId, CommandId, Instant, Seq } from '../value/id.ts'
import { ApprovalAsked, CallApproved, CallSettled, CallStarted } from './call.ts'
import {
  CheckpointUndone,
  CheckpointWritten,
  LineMoved,
  MessageCollapsed,
  MessageGiven,
  MessagePinned,
  NoteAdded,
  SessionForked,
  SummarySaved,
} from './history-events.ts'
import { QueueEdited, QueueRemoved, QueueReordered } from './queue.ts'
import { ClientSaid, ContextChanged, LogRepaired, SessionStarted, SettingsChanged } from './session.ts'
import { TrustGranted, TrustRevoked } from './trust.ts'
import {
  CallRequested,
  PromptQueued,
  StepEnded,
  StepStarted,
  TextSaid,
  ThinkingSaid,
  TurnEnded,
  TurnStarted,
  UserSaid,
} from './turn.ts'

/** Something that happened. Past tense, never edited, never deleted. */
export const Event = z.discriminatedUnion('type', [
  SessionStarted,
  SettingsChanged,
  ContextChanged,
  PromptQueued,
  QueueEdited,
  QueueRemoved,
  QueueReordered,
  UserSaid,
  TurnStarted,
  TurnEnded,
  StepStarted,
  ThinkingSaid,
  TextSaid,
  CallRequested,
  StepEnded,
  ApprovalAsked,
  CallApproved,
  CallStarted,
  CallSettled,
  NoteAdded,
  LineMoved,
  CheckpointWritten,
  CheckpointUndone,
  SummarySaved,
  SessionForked,
  TrustGranted,
  TrustRevoked,
  MessageGiven,
  MessagePinned,
  MessageCollapsed,
  ClientSaid,
  LogRepaired,
])
export type Event = z.infer<typeof Event>
export type EventType = Event['type']
export type EventOf<Type extends EventType> = Extract<Event, { readonly type: Type }>

/**
 * The version each event is written with. A new shape needs a new number, an upcaster and a golden log:
 * old logs must always stay readable.
 */
export const eventVersion: Readonly<Record<EventType, number>> = {
  'session.started': 1,
  'settings.changed': 1,
  'context.changed': 1,
  'prompt.queued': 1,
  'queue.edited': 1,
  'queue.removed': 1,
  'queue.reordered': 1,
  'user.said': 1,
  'turn.started': 1,
  'turn.ended': 1,
  'step.started': 1,
  'thinking.said': 1,
  'text.said': 1,
  'call.requested': 1,
  'step.ended': 1,
  'approval.asked': 1,
  'call.approved': 1,
  'call.started': 1,
  'call.settled': 1,
  'note.added': 1,
  'line.moved': 1,
  'checkpoint.written': 1,
  'checkpoint.undone': 1,
  'summary.saved': 1,
  'session.forked': 1,
  'trust.granted': 1,
  'trust.revoked': 1,
  'message.given': 1,
  'message.pinned': 1,
  'message.collapsed': 1,
  'client.said': 1,
  'log.repaired': 1,
}

/** The events that become messages. The message's id is the record's seq. */
export const messageEvents = [
  'user.said',
  'thinking.said',
  'text.said',
  'call.requested',
  'step.ended',
  'note.added',
  'checkpoint.written',
  'summary.saved',
] as const satisfies readonly EventType[]

const makesMessage: ReadonlySet<EventType> = new Set(messageEvents)
export const isMessageEvent = (event: Event): boolean => makesMessage.has(event.type)

/** Returns the message count of the line after `event`. */
export function messagesAfter(messages: number, event: Event): number {
  if (event.type === 'line.moved') return event.messages
  if (event.type === 'session.started') return event.fork?.messages ?? messages
  return isMessageEvent(event) ? messages + 1 : messages
}

/** Returns the call an event belongs to. Stores index it, so that a page finds the outcomes of its calls. */
export const refOf = (event: Event): Seq | null => ('call' in event ? event.call : null)

/** An event in the log. */
export const Recorded = z.object({
  seq: Seq,
  at: Instant,
  v: z.int().min(1),
  /** The client whose command caused it, if any. */
  by: ClientId.optional(),
  /** On the first record of a command's batch; makes the command idempotent. */
  commandId: CommandId.optional(),
  event: Event,
})
export type Recorded = z.infer<typeof Recorded>

/** A record whose bytes do not match their checksum. Its seq is known, its content is not. */
export type LostRecord = { readonly seq: Seq; readonly lost: true }

/** The events that can refer to blobs. */
export const blobEventTypes = [
  'context.changed',
  'user.said',
  'prompt.queued',
  'queue.edited',
  'queue.removed',
  'call.settled',
] as const satisfies readonly Event['type'][]

/** Returns the blobs an event refers to. They are retained as long as its record. */
export function blobsOf(event: Event): readonly BlobHash[] {
  switch (event.type) {
    case 'context.changed':
      return [event.system, event.tools]
    case 'user.said':
    case 'prompt.queued':
    case 'queue.edited':
      return filesIn(event.content)
    case 'queue.removed':
      return event.entries.flatMap(({ content }) => filesIn(content))
    case 'call.settled': {
      const blob = 'output' in event.outcome ? event.outcome.output?.blob : undefined
      return blob ? [blob.hash] : []
    }
    default:
      return []
  }
}

const filesIn = (content: Content): readonly BlobHash[] =>
  content.flatMap((part) => (part.type === 'file' ? [part.blob] : []))
