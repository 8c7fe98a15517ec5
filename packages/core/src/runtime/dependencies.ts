import type {
  Answer,
  Budgets,
  CallId,
  Cap,
  createSerialQueue,
  Fault,
  ModelName,
  QuestionReply,
  Result,
  SessionId,
  Settings,
  StepId,
  Submission,
  Trust,
  Usage,
} from '@holdfast/protocol'
import type { Clock } from '../ports/clock.ts'
import type { Instructions, Skills, SlashCommands, SubagentRequest } from '../ports/guidance.ts'
import type { Hooks } from '../ports/hooks.ts'
import type { Images } from '../ports/images.ts'
import type { Observer, OnProblem } from '../ports/observer.ts'
import type { OtherNode } from '../ports/other-node.ts'
import type { Permissions } from '../ports/permissions.ts'
import type { Models, SaidPart } from '../ports/provider.ts'
import type { RequestBuilder } from '../ports/request-builder.ts'
import type { Servers } from '../ports/servers.ts'
import type { Blobs } from '../ports/store/blobs.ts'
import type { Cluster } from '../ports/store/cluster.ts'
import type { Draft } from '../ports/store/draft.ts'
import type { NodeRow } from '../ports/store/lease.ts'
import type { EncodedRecord, Log } from '../ports/store/log.ts'
import type { Store } from '../ports/store/store.ts'
import type { SummaryFiles, ToolResult, Tools } from '../ports/tool.ts'
import type { WorkspaceFiles } from '../ports/workspace-files.ts'
import type { FoundChild, Report } from '../session/input.ts'
import type { Origin, SessionState } from '../session/state.ts'
import type { SessionStorage } from './storage-health.ts'
import type { Hub } from './stream/hub.ts'

/** The adapters that the composition root passes to the runtime. */
export type RuntimeDeps = {
  readonly store: Store
  /** For sessions with `persist: false`; the same as `store` when that one is in memory. */
  readonly memoryStore: Store
  readonly blobs: Blobs
  /** For sessions with `persist: false`. */
  readonly memoryBlobs: Blobs
  /** Builds requests of stored sessions on another thread. Absent: on this thread, like those of in-memory sessions. */
  readonly requests?: RequestBuilder | undefined
  /** Absent: each request is read from the store. */
  readonly recent?: RecentRecords | undefined
  readonly images: Images
  readonly models: Models
  /** The model that writes summaries if it is ready and has room; otherwise the session's model does. */
  readonly compactionModel?: ModelName | undefined
  readonly tools: Tools
  readonly instructions: Instructions
  /** Absent: there are no skills. */
  readonly skills?: Skills | undefined
  /** Absent: a prompt that begins with a slash is a text like any other. */
  readonly commands?: SlashCommands | undefined
  /** Absent: there are no MCP servers. */
  readonly servers?: Servers | undefined
  readonly summaryFiles: SummaryFiles
  readonly files: WorkspaceFiles
  readonly permissions: Permissions
  /** Absent: no hooks run. */
  readonly hooks?: Hooks | undefined
  /** The caps that the program or its configuration sets, beside those of the store. */
  readonly caps?: readonly Cap[] | undefined
  readonly clock: Clock
  readonly newSessionId: () => SessionId
  /** Returns the real path of an existing directory. Refused: bad_workdir. */
  readonly resolveWorkdir: (path: string) => Promise<Result<string>>
  /** Reports unexpected errors: our own bugs. */
  readonly onProblem: OnProblem
  /** Observes for traces and logs. */
  readonly observer?: Observer | undefined
}

/** The dependencies that all effects of one session share. */
export type EffectDeps = RuntimeDeps & {
  readonly requests: RequestBuilder
  readonly session: SessionId
  readonly epoch: number
  readonly hub: Hub
  /** Absent in tests of effects alone: then no call starts a subagent. */
  readonly subagents?: Subagents | undefined
  readonly storage: SessionStorage
  readonly state: () => SessionState
  /** Returns a fault if a record of the model's window cannot be read. */
  readonly findDamage: () => Promise<Fault | null>
  /** Returns the signal that aborts long work for a command. */
  readonly sideWorkSignal: () => AbortSignal
  /** Records what was done outside of a turn. Never call it inside the mailbox, which it waits for. */
  readonly record: (report: Report) => Promise<Result<unknown>>
  /** Runs work of this session one after the other. */
  readonly oneByOne: ReturnType<typeof createSerialQueue>
  /** Runs the hooks of prompts one after the other, so that the prompts stay in order. */
  readonly promptsInOrder: ReturnType<typeof createSerialQueue>
  /** The running calls that wait for the answer to a question. */
  readonly questions: Map<CallId, (reply: QuestionReply) => void>
  readonly stepContext: StepContext
  /** What SessionStart hooks of this process said; null before they ran. */
  startContext: StartContext | null
  /** The answer that a model is writing; an abort keeps its text. */
  answer: RunningAnswer | null
}

/** What a step is told besides the messages: the system text, and the tool schemas as JSON. */
export type GatheredContext = { readonly system: Promise<string>; readonly tools: Promise<string> }

/** Gathers what the steps of a session are told. */
export interface StepContext {
  /** Begins to gather for the step that comes next, before it is known to come. */
  lookAhead(origin: Origin, state: SessionState, hookContext: string | null): void
  /** Forgets what was gathered ahead: the step does not come. */
  forget(): void
  /** Returns what was gathered ahead, if it is for the same state; otherwise gathers it now. */
  take(origin: Origin, state: SessionState, hookContext: string | null): GatheredContext
}

/** The newest records of the sessions of this process: a short conversation is known whole without the store. */
export interface RecentRecords {
  /** Begins with a session that has only its start on record. */
  begin(session: SessionId): void
  /** Adds records that were appended to a session. */
  add(session: SessionId, records: readonly EncodedRecord[]): void
  /**
   * Returns a log of the held records of a session and of those that are being written now. Reading others throws `NotHeld`.
   * Null if there are none.
   */
  logOf(session: SessionId, writing: readonly EncodedRecord[]): Pick<Log, 'read' | 'readRefs'> | null
}

/** Starts the subagents of sessions, and waits for them. */
export interface Subagents {
  /** Starts a subagent for a call, or waits on for the one that the call has started. */
  run(deps: EffectDeps, call: CallId, request: SubagentRequest, run: EffectRun): Promise<ToolResult>
  /** Waits for a subagent in the background and returns its result; null when it is aborted. */
  follow(deps: EffectDeps, child: SessionId, signal: AbortSignal): Promise<Report | null>
  /** Finds out what became of the subagents that a session waits for. They are not running now. */
  look(session: SessionId, state: SessionState): Promise<readonly FoundChild[]>
  /** Returns the trust of the session at the top of the tree; empty for that one itself. */
  rootTrust(state: SessionState): readonly Trust[]
  /** Returns the budgets of the tree and what it has used; undefined if it is one session or has no budget. */
  spent(
    session: SessionId,
    state: SessionState,
  ): Promise<{ readonly budgets: Budgets; readonly used: Usage } | undefined>
  /** Answers an approval of a subagent below a session. Null if the session has to answer the command itself. */
  answer(session: SessionId, state: SessionState, submission: Submission): Promise<Result<Answer> | null>
}

/** A model's answer while it streams: complete parts, and the last part as far as it has come. */
type RunningAnswer = {
  readonly step: StepId
  readonly parts: () => readonly SaidPart[]
  readonly draft: () => Draft | null
}

/** What SessionStart hooks told the model, and for which compaction of the window. */
export type StartContext = { readonly text: string | null; readonly checkpoint: number | null }

/** Why an effect runs whose records are still being written. */
export type EarlyStart = {
  /** The state that those records lead to. */
  readonly state: SessionState
  /** Resolves once the records are durable, or refused: then the effect is aborted. */
  readonly recorded: Promise<unknown>
  /** The records that are being written. `written` resolves once those that the model sees are durable. */
  readonly writing?: { readonly records: readonly EncodedRecord[]; readonly written: Promise<unknown> } | undefined
  /** Tells the session what a step is prepared with, before that can be recorded. */
  readonly foresee?: ((report: Report) => void) | undefined
  /** Whether the spending caps were compared for these records, and none is reached: then a step need not ask again. */
  readonly isUnderCaps?: boolean | undefined
}

/** What an effect can use while it runs. */
export type EffectRun = {
  readonly signal: AbortSignal
  /** Set if the effect started before the records that led to it were durable. */
  readonly early?: EarlyStart | undefined
  /** Reports to the session before the effect ends; resolves once that is durable or refused. */
  readonly report: (report: Report) => Promise<Result<unknown>>
}

/** The dependencies of a node: its own name, and what only its process knows. */
export type NodeDeps = RuntimeDeps & {
  readonly node: NodeRow
  /** Whether a registered node still answers. */
  readonly isAlive: (node: NodeRow) => Promise<boolean>
  /** Where sessions run, and which ones change, if the nodes of the store are on several machines. */
  readonly cluster?: Pick<Cluster, 'place' | 'serving' | 'changes'> | undefined
  /** Removes what a dead node left on this machine. */
  readonly forgetNode?: ((node: NodeRow) => Promise<void>) | undefined
  /** Connects to another node. Absent: sessions of other nodes are refused with session_locked. */
  readonly reach?: ((node: NodeRow) => OtherNode) | undefined
  /** Returns a handle that is probably free; `attempt` grows while it is not. */
  readonly newHandle: (attempt: number) => string
  /** The model that names untitled sessions after their first turn. Absent: they stay untitled. */
  readonly titleModel?: Settings['model'] | undefined
  /** How long an idle session stays in memory; `limits.idleUnloadMs` when absent. */
  readonly idleUnloadMs?: number | undefined
}
