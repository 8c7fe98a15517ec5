import { z } from 'zod'
import { BlobHash, Handle, Key, MessageId, Seq, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { Line } from '../value/line.ts'
import { ModelName, ProviderOptions, Settings } from '../value/settings.ts'
import { ActiveSkill } from '../value/skill.ts'
import { Usage } from '../value/usage.ts'
import { Subagent } from './child.ts'
import { CheckpointMark, LineLength } from './history-events.ts'

/** What a fork inherits, so that its log can be folded without its parent. Older records are read from the lineage. */
export const Fork = z.object({
  lineage: z.array(z.object({ session: SessionId, upTo: Seq })).min(1),
  line: Line,
  ...LineLength.shape,
  /** The checkpoints on its line, oldest first. */
  checkpoints: z.array(CheckpointMark),
  pins: z.array(z.object({ message: MessageId, tokens: z.int().min(0) })),
  /** Preview shown in lists. */
  preview: z.string(),
  /** The skills that it follows; none when absent. */
  skills: z.array(ActiveSkill).optional(),
})
export type Fork = z.infer<typeof Fork>

/** A client's own event, stored for other clients. */
export const ClientEvent = z
  .strictObject({
    /** An event with a known id is not stored again. */
    eventId: z.string().min(1).max(limits.clientEventIdCharsMax),
    /** The client's own id of the stream it belongs to. */
    streamId: z.string().max(limits.clientEventIdCharsMax).optional(),
    /** The client's own name for the kind of event. */
    type: z.string().min(1).max(limits.clientEventIdCharsMax),
    /** Any JSON. */
    data: z.json().optional(),
  })
  .refine((event) => JSON.stringify(event).length <= limits.clientEventCharsMax, {
    error: `at most ${limits.clientEventCharsMax} characters of JSON`,
  })
export type ClientEvent = z.infer<typeof ClientEvent>

export const sessionEvents = [
  z.object({
    type: z.literal('session.started'),
    handle: Handle,
    key: Key.optional(),
    /** Empty if it has none yet, as after an import that adopts no folder. */
    workdir: z.string(),
    settings: Settings,
    /** The only tools the model is offered; all when absent. */
    tools: z.array(z.string()).optional(),
    /** Offers only read-only tools. */
    readOnly: z.literal(true).optional(),
    /** In memory only; the session ends with its process. */
    persist: z.literal(false).optional(),
    /** Appended to the system prompt. */
    instructions: z.string().optional(),
    /** Sent unchanged with every model call. */
    providerOptions: ProviderOptions.optional(),
    /** No hooks run in this session. */
    hooksEnabled: z.literal(false).optional(),
    /** No SessionStart hooks run in this session. */
    sessionStartHook: z.literal(false).optional(),
    /** Runs in the background. */
    background: z.literal(true).optional(),
    /** The session this one was started for, or forked from. */
    parent: SessionId.optional(),
    /** Set if a call of the parent started it. */
    subagent: Subagent.optional(),
    fork: Fork.optional(),
  }),
  z.object({
    type: z.literal('settings.changed'),
    ...Settings.partial().shape,
    /** Listed first and protected from pruning. */
    pinned: z.boolean().optional(),
    /** The new working directory. */
    workdir: z.string().optional(),
    /** Set by cycleModel: position in the rotation and its length. */
    cycled: z.object({ index: z.int().min(0), total: z.int().min(1) }).optional(),
    /** Set when a model wrote the title: which model, and its usage. */
    named: z.object({ model: ModelName, usage: Usage.nullable() }).optional(),
  }),
  /** System prompt and tool definitions changed. With them a request can be rebuilt from records and blobs alone. */
  z.object({ type: z.literal('context.changed'), system: BlobHash, tools: BlobHash }),
  /** A client stored its own event: replayed verbatim to clients, never sent to a model. */
  z.object({
    type: z.literal('client.said'),
    event: ClientEvent,
    /** The client events now cover the whole session. */
    complete: z.literal(true).optional(),
  }),
  /** A person accepted the loss of these damaged records. Until then the session is read-only. */
  z.object({ type: z.literal('log.repaired'), lost: z.array(Seq) }),
] as const
