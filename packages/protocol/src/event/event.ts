import { z } from 'zod'
import type { Content } from '../value/content.ts'
import { type BlobHash, ClientId, CommandId, Instant, Seq } from '../value/id.ts'
import { boundaryEvents } from './boundary.ts'
import { callEvents } from './call.ts'
import { childEvents } from './child.ts'
import { type FileChange, type FileState, fileEvents } from './file-change.ts'
import { historyEvents } from './history-events.ts'
import { hookEvents } from './hook.ts'
import { queueEvents } from './queue.ts'
import { sessionEvents } from './session.ts'
import { skillEvents } from './skill.ts'
import { trustEvents } from './trust.ts'
import { turnEvents } from './turn.ts'

/** Something that happened. Past tense, never edited, never deleted. */
export const Event = z.discriminatedUnion('type', [
  ...sessionEvents,
  ...queueEvents,
  ...turnEvents,
  ...callEvents,
  ...childEvents,
  ...hookEvents,
  ...trustEvents,
  ...boundaryEvents,
  ...skillEvents,
  ...fileEvents,
  ...historyEvents,
])
export type Event = z.infer<typeof Event>
export type EventType = Event['type']
export type EventOf<Type extends EventType> = Extract<Event, { readonly type: Type }>

/** Events with a newer version than 1. A new shape needs a new number, an upcaster and a golden log. */
const newerVersions: Partial<Record<EventType, number>> = {}

/** The version each event is written with. Old logs must always stay readable. */
export const eventVersion = Object.fromEntries(
  Event.options.map(({ shape: { type } }) => [type.value, newerVersions[type.value] ?? 1]),
) as Readonly<Record<EventType, number>> // TypeScript widens the keys to string

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
  'hook.ran',
] as const satisfies readonly EventType[]

const makesMessage: ReadonlySet<EventType> = new Set(messageEvents)
export const isMessageEvent = (event: Event): boolean => makesMessage.has(event.type)

/** The events that a message count counts: what people and the model said, and calls. Notes and usage do not count. */
export const countedMessageEvents = [
  'user.said',
  'thinking.said',
  'text.said',
  'call.requested',
] as const satisfies readonly EventType[]

const isCounted: ReadonlySet<EventType> = new Set(countedMessageEvents)
export const isCountedMessage = (event: Event): boolean => isCounted.has(event.type)

/** Returns the message count of the line after `event`. */
export function messagesAfter(messages: number, event: Event): number {
  if (event.type === 'line.moved') return event.messages
  if (event.type === 'session.started') return event.fork?.messages ?? messages
  return isCountedMessage(event) ? messages + 1 : messages
}

/** Returns the call an event belongs to. Stores index it, so that a page finds the outcomes of its calls. */
export const refOf = (event: Event): Seq | null => ('call' in event ? (event.call ?? null) : null)

/** An event in the log. */
export const Recorded = z.object({
  /** Its number in the session, counted from 1 without gaps. */
  seq: Seq,
  /** When it was appended. */
  at: Instant,
  /** The version of the event's shape. */
  v: z.int().min(1),
  /** The client whose command caused it, if any. */
  by: ClientId.optional(),
  /** On the first record of a command's batch; makes the command idempotent. */
  commandId: CommandId.optional(),
  /** What happened. */
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
  'approval.asked',
  'call.settled',
  'child.ended',
  'hook.ran',
  'boundary.set',
  'files.touched',
  'files.restore_started',
  'files.restored',
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
    case 'approval.asked':
      return event.preview.blob ? [event.preview.blob.hash] : []
    case 'call.settled': {
      const output = 'output' in event.outcome ? event.outcome.output : undefined
      const parts = filesIn(output?.fileParts ?? [])
      return [...(output?.blob ? [output.blob.hash] : []), ...parts, ...beforeImages(event.files ?? [])]
    }
    case 'child.ended':
    case 'hook.ran':
      return event.output?.blob ? [event.output.blob.hash] : []
    case 'files.touched':
      return beforeImages(event.files)
    case 'boundary.set':
      return [event.content]
    case 'files.restore_started':
    case 'files.restored':
      return event.items.flatMap(({ before, after }) => [...bytesOf(before), ...bytesOf(after)])
    default:
      return []
  }
}

const beforeImages = (files: readonly FileChange[]): readonly BlobHash[] =>
  files.flatMap(({ before, replaced }) =>
    [before, replaced].flatMap((state) => (state?.type === 'file' ? [state.hash] : [])),
  )

const bytesOf = (state: FileState): readonly BlobHash[] => (state.type === 'file' ? [state.hash] : [])

const filesIn = (content: readonly Content[number][]): readonly BlobHash[] =>
  content.flatMap((part) => (part.type === 'file' ? [part.blob] : []))
