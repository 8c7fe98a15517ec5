import { z } from 'zod'
import { BlobHash, Handle, Key, MessageId, Seq, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { Line } from '../value/line.ts'
import { ModelName, ProviderOptions, Settings } from '../value/settings.ts'
import { Usage } from '../value/usage.ts'
import { CheckpointMark, LineLength } from './history-events.ts'

/** What a fork inherits, so that it folds without its parent. Seqs up to `base` are read from the lineage. */
export const Fork = z.object({
  lineage: z.array(z.object({ session: SessionId, upTo: Seq })).min(1),
  line: Line,
  ...LineLength.shape,
  /** The checkpoints on its line, oldest first. */
  checkpoints: z.array(CheckpointMark),
  pins: z.array(z.object({ message: MessageId, tokens: z.int().min(0) })),
  /** What its row in a list begins with. */
  preview: z.string(),
})
export type Fork = z.infer<typeof Fork>

export const SessionStarted = z.object({
  type: z.literal('session.started'),
  handle: Handle,
  key: Key.optional(),
  workdir: z.string(),
  settings: Settings,
  /** The only tools the model is offered; all when absent. */
  tools: z.array(z.string()).optional(),
  /** Only tools that change nothing are offered. */
  readOnly: z.literal(true).optional(),
  /** Never on disk: the session ends with its process. */
  persist: z.literal(false).optional(),
  /** Added to the system text. */
  instructions: z.string().optional(),
  /** Sent with every model call, as it is. */
  providerOptions: ProviderOptions.optional(),
  /** Nobody sits before it. */
  background: z.literal(true).optional(),
  /** The session this one was started for, or forked from. */
  parent: SessionId.optional(),
  fork: Fork.optional(),
})

export const SettingsChanged = z.object({
  type: z.literal('settings.changed'),
  ...Settings.partial().shape,
  /** Whether the session is listed first and kept from pruning. */
  pinned: z.boolean().optional(),
  /** Where it works from now on. */
  workdir: z.string().optional(),
  /** The model came by going round the rotation: where in it that is, and how many stops it has. */
  cycled: z.object({ index: z.int().min(0), total: z.int().min(1) }).optional(),
  /** The title is a model's: which one wrote it, and what that used. */
  named: z.object({ model: ModelName, usage: Usage.nullable() }).optional(),
})

/** What the model is told apart from messages. With it, a request is built from records and blobs alone. */
export const ContextChanged = z.object({ type: z.literal('context.changed'), system: BlobHash, tools: BlobHash })

/** A person accepted that these records cannot be read; until then the session is read-only. */
export const LogRepaired = z.object({ type: z.literal('log.repaired'), lost: z.array(Seq) })

/** What a client wants other clients to see again, in words of its own. */
export const ClientEvent = z
  .strictObject({
    /** The same id is the same event: it is kept once. */
    eventId: z.string().min(1).max(limits.clientEventIdCharsMax),
    streamId: z.string().max(limits.clientEventIdCharsMax).optional(),
    type: z.string().min(1).max(limits.clientEventIdCharsMax),
    data: z.json().optional(),
  })
  .refine((event) => JSON.stringify(event).length <= limits.clientEventCharsMax, {
    error: `at most ${limits.clientEventCharsMax} characters of JSON`,
  })
export type ClientEvent = z.infer<typeof ClientEvent>

/** A client's own event: kept verbatim, replayed to clients as a record, never sent to a model. */
export const ClientSaid = z.object({
  type: z.literal('client.said'),
  event: ClientEvent,
  /** With this one, such events cover the whole session. */
  complete: z.literal(true).optional(),
})
