import type { Answer, CommandInput } from '../command/command.ts'
import type { Frame, FrameOf, Role } from '../frame/frame.ts'
import type { ListedBranch } from '../value/branch.ts'
import type { BlobHash, MessageId, Seq, SessionId } from '../value/id.ts'
import type { ModelList } from '../value/model.ts'
import type { Result } from '../value/result.ts'
import type { TreeUsage } from '../value/usage.ts'
import type { Message } from '../view/message.ts'
import type { Meta } from '../view/meta.ts'

/** A page of the transcript, oldest first; `before` and `after` are where the next pages begin, null at an end. */
export type TranscriptPage = {
  readonly session: Meta
  readonly messages: readonly Message[]
  readonly before: MessageId | null
  readonly after: MessageId | null
}

export type PageRequest = {
  readonly before?: MessageId | undefined
  readonly after?: MessageId | undefined
  readonly limit?: number | undefined
  /** Of a line that was left and kept; of the one the session stands on when absent. */
  readonly branch?: string | undefined
}

export type SubscribeOptions = {
  /** The last seq the client has; without it the first frame is a snapshot. */
  readonly after?: Seq | undefined
  readonly client?: string | undefined
  /** `viewer` only watches; without it the first to come drives. */
  readonly role?: Role | undefined
  readonly signal?: AbortSignal | undefined
}

/** Plain texts, as a program has them; whoever takes the command looks whether they have the form of ids. */
export type SubmitOptions = {
  readonly commandId?: string | undefined
  readonly as?: string | undefined
}

/**
 * The only way anyone reaches a session: in this process or across the network, the same eight verbs.
 * Refusals are values; it throws only when its own code is broken.
 */
export interface SessionHandle {
  readonly id: SessionId
  /** Resolves once the command's records would survive a power cut, or it was refused and nothing changed. */
  submit(command: CommandInput, options?: SubmitOptions): Promise<Result<Answer>>
  /** Every record after the cursor exactly once and in order, then what happens next. */
  subscribe(options?: SubscribeOptions): AsyncIterable<Frame>
  snapshot(): Promise<Result<FrameOf<'snapshot'>>>
  page(request?: PageRequest): Promise<Result<TranscriptPage>>
  /** The lines that were left and kept, oldest first. */
  branches(): Promise<Result<readonly ListedBranch[]>>
  /** The bytes of a file part or a long output that a record of this session names. Refused: blob_not_found. */
  blob(hash: BlobHash): Promise<Result<AsyncIterable<Uint8Array>>>
  /** Which models can be called where it runs, and why the rest cannot. */
  models(): Promise<Result<ModelList>>
  /** What it used, with all sessions that were started for it, and for those. Refused: too_large. */
  treeUsage(): Promise<Result<TreeUsage>>
}
