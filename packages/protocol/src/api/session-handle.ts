import { z } from 'zod'
import type { Answer, CommandInput } from '../command/command.ts'
import type { RestoreInput } from '../command/history-commands.ts'
import type { SlashCommand } from '../command/slash-command.ts'
import { clip } from '../event/text-of.ts'
import { type Frame, type FrameOf, Role } from '../frame/frame.ts'
import { escapeLine } from '../text/hostile-text.ts'
import type { ListedBoundary } from '../value/boundary.ts'
import type { ListedBranch } from '../value/branch.ts'
import { fault } from '../value/fault.ts'
import { type BlobHash, BranchName, ClientId, CommandId, MessageId, Seq, type SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import type { ModelList } from '../value/model.ts'
import { type Result, refuse } from '../value/result.ts'
import type { TreeUsage } from '../value/usage.ts'
import type { ChildView, SubagentContext } from '../view/child.ts'
import type { Message } from '../view/message.ts'
import type { Meta } from '../view/meta.ts'
import type { SessionServer } from '../view/server.ts'
import type { BackgroundShell } from './background-shell.ts'
import type { ClientEventPage, ClientEventRequest } from './client-events.ts'
import type { DiffInput, FileChangePage, FileChangeRequest, FileDiffs, RestorePreview } from './file-changes.ts'
import { parseOptions } from './parse-options.ts'
import type { ListedSkill } from './skills.ts'
import type { StateField, StateFields } from './state-fields.ts'
import type { FileLines, FileLinesRequest, InstructionFile } from './workspace-file.ts'

/** A page of the transcript, oldest first. `before` and `after` are the cursors of the next pages, null at an end. */
export type TranscriptPage = {
  /** The row of the session in a list. */
  readonly session: Meta
  /** The messages, oldest first. */
  readonly messages: readonly Message[]
  /** The cursor of the page before; null at the beginning. */
  readonly before: MessageId | null
  /** The cursor of the page after; null at the end. */
  readonly after: MessageId | null
}

/** Which page of a transcript to read; the newest one by default. */
export type PageRequest = {
  /** Only messages before this one. */
  readonly before?: MessageId | undefined
  /** Only messages after this one. */
  readonly after?: MessageId | undefined
  /** The largest number of messages to return. */
  readonly limit?: number | undefined
  /** A saved branch; the current line when absent. */
  readonly branch?: string | undefined
}

export const PageRequest = z.strictObject({
  before: MessageId.optional(),
  after: MessageId.optional(),
  limit: z.int().min(1).max(limits.pageMessagesMax).optional(),
  branch: BranchName.optional(),
})

/** How to follow a session. */
export type SubscribeOptions = {
  /** The last seq the client has; without it the first frame is a snapshot. */
  readonly after?: Seq | undefined
  /** The client that follows; it has a role while it does. A subscriber without a name has none. */
  readonly client?: string | undefined
  /** `viewer` only watches. When absent, the first client becomes the driver. */
  readonly role?: Role | undefined
  /** Lets a viewer claim control and abort. Over HTTP the token decides instead. */
  readonly mayDrive?: boolean | undefined
  /** Adds the frames of all subagents, so that one stream shows the whole tree. */
  readonly children?: boolean | undefined
  /** Ends the subscription. */
  readonly signal?: AbortSignal | undefined
}

export const SubscribeOptions = z.strictObject({
  after: Seq.optional(),
  client: ClientId.optional(),
  role: Role.optional(),
  mayDrive: z.boolean().optional(),
  children: z.boolean().optional(),
  signal: z.instanceof(AbortSignal).optional(),
})

/** How to attach a client. */
export type AttachOptions = Pick<SubscribeOptions, 'role' | 'mayDrive'> & {
  /** The client id; reuse it after a reconnect. Random when absent. */
  readonly client?: string | undefined
}

export const AttachOptions = SubscribeOptions.pick({ client: true, role: true, mayDrive: true })

/** Parses how a client subscribes. Refused: bad_request, invalid_role. */
export const parseSubscribeOptions = (given: unknown): Result<z.output<typeof SubscribeOptions>> =>
  refuseRole(given) ?? parseOptions(SubscribeOptions, given, 'subscribe')

/** Parses how a client attaches. Refused: bad_request, invalid_role. */
export const parseAttachOptions = (given: unknown): Result<z.output<typeof AttachOptions>> =>
  refuseRole(given) ?? parseOptions(AttachOptions, given, 'attach')

/** Refuses a wrong role with a code of its own. */
function refuseRole(given: unknown): Result<never> | null {
  if (typeof given !== 'object' || given === null || !('role' in given)) return null
  if (Role.optional().safeParse(given.role).success) return null
  const role = escapeLine(clip(String(given.role), 100))
  return refuse(fault('invalid_role', `There is no role ${role}. A role is driver or viewer.`))
}

/** The place of an attached client, which it keeps until it detaches or the process ends. It needs no subscription. */
export interface Seat {
  /** The id of the attached client. */
  readonly client: ClientId
  /** The role it was given when it attached: `viewer` if another client drove. Who drives now is in the frames of `subscribe`. */
  readonly role: Role
  /** Sends a command for this client. Refused: not_subscribed once it is detached, and what its role may not do. */
  submit(command: CommandInput, options?: CommandOptions): Promise<Result<Answer>>
  /** Gives up the seat, and control with it. */
  detach(): Promise<void>
}

/** Options of every command: an id that makes a retry safe, and the client that sends it. */
export type CommandOptions = {
  /** An id chosen by the caller: a command sent twice with the same id runs once. */
  readonly commandId?: string | undefined
  /** The client in whose name the command is sent. */
  readonly as?: string | undefined
}

export const CommandOptions = z.strictObject({ commandId: CommandId.optional(), as: ClientId.optional() })

/**
 * The only interface to a session: the same methods in this process and over the network.
 * Refusals are values; it throws only when its own code is broken.
 */
export interface SessionHandle {
  /** The id of the session. */
  readonly id: SessionId
  /** Resolves once the command's records would survive a power cut, or it was refused and nothing changed. */
  submit(command: CommandInput, options?: CommandOptions): Promise<Result<Answer>>
  /** Takes a seat at once. Refused: bad_request, invalid_role, foreign_attachment. */
  attach(options?: AttachOptions): Promise<Result<Seat>>
  /** Every record after the cursor exactly once and in order, then what happens next. */
  subscribe(options?: SubscribeOptions): AsyncIterable<Frame>
  /** Returns the whole state with the newest page of the transcript. */
  snapshot(): Promise<Result<FrameOf<'snapshot'>>>
  /** Reads fields of the state, without the transcript: its cost does not depend on the length of the session. */
  state<Field extends StateField>(fields: readonly Field[]): Promise<Result<Pick<StateFields, Field>>>
  /** Returns a page of the transcript, by default the newest one. */
  page(request?: PageRequest): Promise<Result<TranscriptPage>>
  /**
   * Reads all messages of a line as of now, oldest first, in lists of any length. A refusal is the last item: branch_not_found.
   * Absent over the network, where a line is read page by page.
   */
  messages?(request?: Pick<PageRequest, 'branch'>): AsyncIterable<Result<readonly Message[]>>
  /** A page of the stored client events, oldest first. */
  clientEvents(request?: ClientEventRequest): Promise<Result<ClientEventPage>>
  /** A page of the file changes of this session, newest first. Those of a fork's parent are not among them. */
  fileChanges(request?: FileChangeRequest): Promise<Result<FileChangePage>>
  /** What `restoreFiles` would do now, with diffs. Changes nothing. Refused: turn_not_found, message_not_found, nothing_to_undo. */
  previewRestore(request: RestoreInput): Promise<Result<RestorePreview>>
  /** The changes of files by this session as one diff: of a turn, of a call, or all until now. Refused: turn_not_found, message_not_found. */
  diffChanges(request?: DiffInput): Promise<Result<FileDiffs>>
  /** Lines of a text file of the workdir, as it is now. Refused: outside_workdir, not_found, too_large, bad_request. */
  readFile(request: FileLinesRequest): Promise<Result<FileLines>>
  /** The edit boundaries, each with the lines that it has in its file now. */
  boundaries(): Promise<Result<readonly ListedBoundary[]>>
  /** The commands that run in the background, oldest first. Empty if another process runs the session. */
  backgroundShells(): Promise<Result<readonly BackgroundShell[]>>
  /** The MCP servers of the user and the workspace, as they are now. None is started. */
  servers(): Promise<Result<readonly SessionServer[]>>
  /** The skills of the user and the workspace, as they are now, with those that the session follows. */
  skills(): Promise<Result<readonly ListedSkill[]>>
  /** The files of instructions that the model is told at its next step, in this order. Later ones count more. */
  instructionFiles(): Promise<Result<readonly InstructionFile[]>>
  /** The slash commands that can be used now, by name. */
  commands(): Promise<Result<readonly SlashCommand[]>>
  /** The saved branches, oldest first. */
  branches(): Promise<Result<readonly ListedBranch[]>>
  /** The bytes of a file part or long output that this session refers to. Refused: blob_not_found. */
  blob(hash: BlobHash): Promise<Result<AsyncIterable<Uint8Array>>>
  /** The models this session can call, and why the others cannot be called. */
  models(): Promise<Result<ModelList>>
  /** The subagents of this session and of its subagents, oldest first, with the approvals they wait for. */
  subagents(): Promise<Result<readonly ChildView[]>>
  /** What a subagent of this session would inherit if it started now, and whether one can start. */
  subagentContext(): Promise<Result<SubagentContext>>
  /** Total usage of this session and all its descendants. Refused: too_large. */
  treeUsage(): Promise<Result<TreeUsage>>
}
