import { z } from 'zod'
import { Recorded } from '../event/event.ts'
import { Trust } from '../event/trust.ts'
import { CallId, ClientId, MessageId, Seq, SessionId, StepId } from '../value/id.ts'
import { ThinkingLevel } from '../value/settings.ts'
import { ChildView, withChild } from '../view/child.ts'
import { Message } from '../view/message.ts'
import { Meta } from '../view/meta.ts'
import { SessionView } from '../view/view.ts'

const of = { sessionId: SessionId }

/** At most one client is the driver and may send commands. Viewers only receive. */
export const Role = z.enum(['driver', 'viewer'])
export type Role = z.infer<typeof Role>

const Clients = z.array(z.object({ client: ClientId, role: Role }))

/** Why the store rejects writes. `reason` is that of the fault: disk_full, read_only, io and so on. */
export const StorageError = z.object({ reason: z.string(), message: z.string() })
export type StorageError = z.infer<typeof StorageError>

/** What is known about the session's current model. */
export const ModelStatus = z.object({
  /** Whether it can be called now. */
  credentialsConfigured: z.boolean(),
  /** Context size; null when unknown, then `limits.contextTokens` is assumed. */
  contextTokens: z.int().min(1).nullable(),
  /** Its address, if known, without secrets. */
  endpoint: z.string().optional(),
  /** File types it accepts besides text; those every provider accepts when absent. */
  takes: z.array(z.string()).optional(),
  /** Its thinking levels; all when absent. */
  thinkingLevels: z.array(ThinkingLevel).min(1).optional(),
})
export type ModelStatus = z.infer<typeof ModelStatus>

/** State that is not in the log: only the process that runs the session knows it. */
export const ProcessView = z.object({
  /** Attached clients, in order of arrival. */
  clients: Clients,
  /** Why the store rejects writes; null while writes succeed. */
  storageError: StorageError.nullable(),
  ...ModelStatus.shape,
  /** Trust of the workspace; any session of it may have granted or revoked it. */
  workspaceTrust: z.array(Trust),
  /** The subagents of this process, below this session at any depth, oldest first; absent if there are none. */
  children: z.array(ChildView).optional(),
})
export type ProcessView = z.infer<typeof ProcessView>

/** The view at a seq: the first frame a new subscriber gets. */
export const SnapshotFrame = z.object({
  type: z.literal('snapshot'),
  ...of,
  seq: Seq,
  meta: Meta,
  view: SessionView,
  /** The newest page of the transcript, oldest first. */
  messages: z.array(Message),
  /** The cursor of the previous page; null when this is the whole line. */
  before: MessageId.nullable(),
  /** The summary of the active checkpoint, if any. */
  summary: z.string().nullable(),
  /** Null when the session was read from a store and is not running here. */
  here: ProcessView.nullable(),
})

/** Position of a fragment: a part of the running answer, or the output of a running call. */
const position = {
  /** The model call it belongs to. */
  step: StepId,
  /** The index of the part in the answer. */
  part: z.int().min(0),
  /** What is streaming: text, thinking, the arguments of a call, or the output of a call. */
  kind: z.enum(['text', 'thinking', 'input', 'output']),
  /** The call whose output it is. */
  call: CallId.optional(),
  /** The name of the called tool. */
  tool: z.string().optional(),
}

/** `revoked`: the token of the client was revoked or has expired. */
const EndReason = z.enum(['slow', 'stopped', 'closing', 'failed', 'left', 'revoked'])

/** The frames about the session itself. */
const ownFrames = [
  SnapshotFrame,
  /** A durable record; the only frame that moves the cursor. */
  z.object({ type: z.literal('record'), ...of, record: Recorded }),
  /** A fragment shown live and never stored. `index` counts the fragments of a step. */
  z.object({
    type: z.literal('delta'),
    ...of,
    ...position,
    index: z.int().min(0),
    text: z.string(),
  }),
  /** The running message so far, up to and including delta `index`. */
  z.object({
    type: z.literal('draft'),
    ...of,
    step: StepId,
    index: z.int().min(-1),
    parts: z.array(
      z.object({
        ...position,
        /** The text so far. */
        text: z.string(),
      }),
    ),
  }),
  z.object({
    type: z.literal('presence'),
    ...of,
    /** Attached clients, in order of arrival. */
    clients: Clients,
  }),
  /** Writes to the store began to fail, or work again (`error` is null). Sent at every change. */
  z.object({ type: z.literal('storage'), ...of, error: StorageError.nullable() }),
  /** The model or its status changed. Sent at every change, and to clients that resume with a cursor. */
  z.object({ type: z.literal('model'), ...of, ...ModelStatus.shape }),
  /** The cursor is not usable; a snapshot follows. */
  z.object({ type: z.literal('resync'), ...of, reason: z.string() }),
  z.object({
    type: z.literal('end'),
    ...of,
    reason: EndReason,
    /** When to reconnect; null for never. */
    retryMs: z.int().min(0).nullable(),
  }),
] as const

/** One item of a session's stream. */
export const Frame = z.discriminatedUnion('type', [
  ...ownFrames,
  /**
   * About a subagent of the session, or of one of its subagents. Each change of a subagent is a frame with `view`. A
   * subscriber that asked for `children` also gets every frame of the subagent itself, as `frame`, from a snapshot on.
   */
  z.object({
    type: z.literal('child'),
    ...of,
    child: SessionId,
    view: ChildView.optional(),
    frame: z.discriminatedUnion('type', ownFrames).optional(),
  }),
])
export type Frame = z.infer<typeof Frame>
/** The frames of one type, such as `FrameOf<'record'>`. */
export type FrameOf<Type extends Frame['type']> = Extract<Frame, { readonly type: Type }>

/** Returns the process view with what a frame says of a subagent. */
export const withChildFrame = (here: ProcessView, { view }: FrameOf<'child'>): ProcessView =>
  view ? { ...here, children: withChild(here.children, view) } : here

/** Returns the process view with the model status of a frame. */
export const withModelStatus = (
  { clients, storageError, workspaceTrust, children }: ProcessView,
  { type: _, sessionId: _of, ...model }: FrameOf<'model'>,
): ProcessView => ({ clients, storageError, ...model, workspaceTrust, ...(children && { children }) })

/** Returns every trust that applies now: the session's own and its workspace's. */
export const listActiveTrust = ({
  view,
  here,
}: {
  readonly view: Pick<SessionView, 'trust'>
  readonly here: ProcessView | null
}): readonly Trust[] =>
  here ? [...view.trust.filter(({ scope }) => scope !== 'workspace'), ...here.workspaceTrust] : view.trust
