import { z } from 'zod'
import { Recorded } from '../event/event.ts'
import { Trust } from '../event/trust.ts'
import { CallId, ClientId, MessageId, Seq, SessionId, StepId } from '../value/id.ts'
import { ThinkingLevel } from '../value/settings.ts'
import { Message } from '../view/message.ts'
import { Meta } from '../view/meta.ts'
import { SessionView } from '../view/view.ts'

const of = { sessionId: SessionId }

/** The driver may command, and there is at most one; a viewer only receives. */
export const Role = z.enum(['driver', 'viewer'])
export type Role = z.infer<typeof Role>

const Clients = z.array(z.object({ client: ClientId, role: Role }))

/** Why the store takes nothing now. `reason` is that of the fault: disk_full, read_only, io and the like. */
export const StorageError = z.object({ reason: z.string(), message: z.string() })
export type StorageError = z.infer<typeof StorageError>

/** What is known of the session's model now: another may be chosen, or its key found. */
export const ModelStatus = z.object({
  /** Whether it could be called now. */
  credentialsConfigured: z.boolean(),
  /** How many tokens it takes; null where nobody knows, and it is taken to hold `limits.contextTokens`. */
  contextTokens: z.int().min(1).nullable(),
  /** Where it is called, as far as anyone knows: without what is secret of the address. */
  endpoint: z.string().optional(),
  /** Which files it takes beside text; what every provider takes when absent. */
  takes: z.array(z.string()).optional(),
  /** Which thinking levels it knows; all of them when absent. */
  thinkingLevels: z.array(ThinkingLevel).min(1).optional(),
})
export type ModelStatus = z.infer<typeof ModelStatus>

/** What is not on record: only the process that runs the session knows. */
export const ProcessView = z.object({
  /** Who is attached, in the order they came. */
  clients: Clients,
  /** Why the store refuses what the session writes, until it takes something again; null while all is well. */
  storageError: StorageError.nullable(),
  ...ModelStatus.shape,
  /** What the workspace trusts, over all its sessions: another may have granted it, or taken it back. */
  workspaceTrust: z.array(Trust),
})
export type ProcessView = z.infer<typeof ProcessView>

/** The view at a seq: what a newcomer draws first. */
export const SnapshotFrame = z.object({
  type: z.literal('snapshot'),
  ...of,
  seq: Seq,
  meta: Meta,
  view: SessionView,
  /** The newest page of the transcript, oldest first. */
  messages: z.array(Message),
  /** The id to page back from, or null when this is the whole line. */
  before: MessageId.nullable(),
  /** What the model is told in place of the past, if anything. */
  summary: z.string().nullable(),
  /** Null when the session was read from its store by someone who does not run it. */
  here: ProcessView.nullable(),
})

/** Durable, and the only frame that moves a cursor. */
export const RecordFrame = z.object({ type: z.literal('record'), ...of, record: Recorded })

/** Where a fragment belongs: a part of the running answer, or the output of a running call. */
const place = {
  step: StepId,
  part: z.int().min(0),
  kind: z.enum(['text', 'thinking', 'input', 'output']),
  call: CallId.optional(),
  tool: z.string().optional(),
}

/** A fragment shown live and never stored. `index` counts them within a step; a lost one costs nothing. */
export const DeltaFrame = z.object({
  type: z.literal('delta'),
  ...of,
  ...place,
  index: z.int().min(0),
  text: z.string(),
})

/** The running message so far, up to and including delta `index`. */
export const DraftFrame = z.object({
  type: z.literal('draft'),
  ...of,
  step: StepId,
  index: z.int().min(-1),
  parts: z.array(z.object({ ...place, text: z.string() })),
})

export const PresenceFrame = z.object({
  type: z.literal('presence'),
  ...of,
  /** Who is attached, in the order they came. */
  clients: Clients,
})

/** The store began to refuse what the session writes, or takes it again: then `error` is null. Sent at every change. */
export const StorageFrame = z.object({ type: z.literal('storage'), ...of, error: StorageError.nullable() })

/** The session's model is another, or what is known of it is. Sent at every such change, and to whoever comes with a cursor. */
export const ModelFrame = z.object({ type: z.literal('model'), ...of, ...ModelStatus.shape })

/** Something happened in a child session; its own frames are read from its own stream. */
export const ChildFrame = z.object({ type: z.literal('child'), ...of, child: SessionId, call: CallId })

/** The cursor cannot be served; a snapshot follows. */
export const ResyncFrame = z.object({ type: z.literal('resync'), ...of, reason: z.string() })

export const EndReason = z.enum(['slow', 'stopped', 'closing', 'failed', 'left'])
export const EndFrame = z.object({
  type: z.literal('end'),
  ...of,
  reason: EndReason,
  /** When to come back, or null when there is no point. */
  retryMs: z.int().min(0).nullable(),
})

/** What a subscriber receives. */
export const Frame = z.discriminatedUnion('type', [
  SnapshotFrame,
  RecordFrame,
  DeltaFrame,
  DraftFrame,
  PresenceFrame,
  StorageFrame,
  ModelFrame,
  ChildFrame,
  ResyncFrame,
  EndFrame,
])
export type Frame = z.infer<typeof Frame>
export type FrameOf<Type extends Frame['type']> = Extract<Frame, { readonly type: Type }>

/** What is not on record, with what a frame tells of the model. */
export const withModelStatus = (
  { clients, storageError, workspaceTrust }: ProcessView,
  { type: _, sessionId: _of, ...model }: FrameOf<'model'>,
): ProcessView => ({ clients, storageError, ...model, workspaceTrust })

/** Every standing approval that would be used now: the session's own, and what its workspace trusts. */
export const listActiveTrust = ({ view, here }: Pick<FrameOf<'snapshot'>, 'view' | 'here'>): readonly Trust[] =>
  here ? [...view.trust.filter(({ scope }) => scope !== 'workspace'), ...here.workspaceTrust] : view.trust
