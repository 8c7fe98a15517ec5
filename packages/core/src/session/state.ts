import {
  type ApprovalId,
  type BlobHash,
  type Branch,
  type BranchName,
  type CallId,
  type CheckpointMark,
  type Fork,
  type Handle,
  type Instant,
  type Key,
  type Line,
  type LineLength,
  type MessageId,
  type ModelFault,
  type ModelName,
  noUsage,
  type Preview,
  type ProcessMark,
  type ProviderOptions,
  type QueueEntry,
  type Seq,
  type Settings,
  type StepId,
  type ThinkingLevel,
  type Trust,
  type TurnEnd,
  type TurnNumber,
  type Usage,
} from '@holdfast/protocol'

/**
 * All that has to be known to decide and to plan, and no more: it holds no message bodies, so it does not grow with
 * the conversation. Plain data, so that a snapshot of it is its JSON.
 */
export type SessionState = {
  readonly seq: Seq
  readonly origin: Origin | null
  readonly settings: Settings
  /** Whether it is listed first and kept from pruning. */
  readonly isPinned: boolean
  /** What the model was last told apart from messages. */
  readonly context: { readonly system: BlobHash; readonly tools: BlobHash } | null
  readonly line: Line
  /** The branch the session stands on; null for a line that has no name yet. */
  readonly branch: BranchName | null
  /** How many turns and messages the line holds. */
  readonly turns: number
  readonly messages: number
  /** About how many tokens the model would be told now. */
  readonly tokens: number
  /** Whether that is our guess, be it in part, and not the service's own count. */
  readonly isEstimate: boolean
  /** The lines that were left and kept, oldest first; bounded by `limits.branchesMax`. */
  readonly branches: readonly KeptBranch[]
  /** How many branches got their name from us. */
  readonly branchesNamed: number
  /** The newest compactions that were not undone, on whatever line. */
  readonly checkpoints: readonly Checkpoint[]
  /** The compaction that holds on this line. */
  readonly checkpoint: Seq | null
  /** What keeps the next automatic compaction waiting: that a person undid one, or the size at which one failed. */
  readonly compaction: { readonly isUndone: boolean; readonly failedAt: number | null }
  /** Prompts that wait; the only content in the state, bounded by `limits.promptsQueuedMax`. */
  readonly queue: readonly QueueEntry[]
  /** Standing approvals; those of a turn end with it. */
  readonly trust: readonly Trust[]
  /** Messages kept in the model's context for good. */
  readonly pins: readonly Pin[]
  /** Which tool calls are shown folded: all or none, but for these. */
  readonly collapse: { readonly all: boolean; readonly except: readonly MessageId[] }
  /** The newest answer, for whoever wants to keep it. */
  readonly lastAnswer: Pin | null
  /** Calls of a conversation that a program leads, whose result it has not told yet; at most one round of them. */
  readonly awaited: readonly AwaitedCall[]
  /** Whether the events that clients left here cover the whole session. */
  readonly clientEventsComplete: boolean
  /** What the session has used so far, or about that, unknown prices left out: what budgets are held against. */
  readonly used: Usage
  /** What the turn that runs has used, or the last one; null where nobody counted. */
  readonly turnUsage: Usage | null
  readonly turn: Turn
}

/** The code of the notice that tells of a compaction that failed. */
export const compactionFailed = 'compaction_failed'

/** A message and about how many tokens it is. */
export type Pin = Fork['pins'][number]
export type Checkpoint = CheckpointMark
/** A call, and what its program calls it. */
export type AwaitedCall = { readonly call: CallId; readonly id: string }
export type KeptBranch = Branch & LineLength & { readonly line: Line; readonly checkpoint: Seq | null }

export type Origin = {
  readonly handle: Handle
  readonly key: Key | null
  readonly workdir: string
  readonly tools: readonly string[] | null
  readonly readOnly: boolean
  /** Whether anything of it may be on disk. */
  readonly persist: boolean
  readonly instructions: string | null
  readonly providerOptions: ProviderOptions | null
}

/** Illegal combinations cannot be said: a session at rest has no step, a thinking one has no calls. */
export type Turn =
  | { readonly phase: 'idle'; readonly last: LastTurn | null }
  /** Between rounds: the next step is owed. After an answer without calls, it is owed only to whoever steers. */
  | ({ readonly phase: 'preparing'; readonly isAnswered: boolean; readonly attempt: number } & TurnCount)
  | ({
      readonly phase: 'thinking'
      readonly step: StepId
      readonly model: ModelName
      readonly thinkingLevel: ThinkingLevel
      /** Counts the models that were asked for this answer, one after the other. */
      readonly attempt: number
    } & TurnCount)
  /** Calls are open; a settled call leaves the list, and the last to leave closes the round. */
  | ({ readonly phase: 'acting'; readonly step: StepId; readonly calls: readonly Call[] } & TurnCount)

export type TurnCount = { readonly number: TurnNumber; readonly steps: number; readonly fallback: Fallback | null }

/** Who answers in place of the session's model for the rest of the turn, and who could not. */
type Fallback = { readonly model: ModelName; readonly tried: readonly ModelName[] }

export type LastTurn = { readonly number: TurnNumber; readonly reason: TurnEnd; readonly fault?: ModelFault }

export type Call = { readonly id: CallId; readonly tool: string } & CallProgress

export type CallProgress =
  | { readonly status: 'requested' }
  | {
      readonly status: 'asked'
      readonly approval: ApprovalId
      readonly argsHash: BlobHash
      readonly preview: Preview
      readonly expiresAt: Instant | null
    }
  | { readonly status: 'approved'; readonly argsHash: BlobHash }
  | { readonly status: 'started'; readonly argsHash: BlobHash; readonly process: ProcessMark | null }

/** A session before its first record. A fork's first seq is `base + 1`. */
export const emptySession = (base: Seq = 0): SessionState => ({
  seq: base,
  origin: null,
  settings: { model: 'demo/agent', thinkingLevel: 'off', mode: 'exec', budgets: {} },
  isPinned: false,
  context: null,
  line: [{ from: base + 1, to: null }],
  branch: null,
  turns: 0,
  messages: 0,
  tokens: 0,
  isEstimate: true,
  branches: [],
  branchesNamed: 0,
  checkpoints: [],
  checkpoint: null,
  compaction: { isUndone: false, failedAt: null },
  queue: [],
  trust: [],
  pins: [],
  collapse: { all: false, except: [] },
  lastAnswer: null,
  awaited: [],
  clientEventsComplete: false,
  used: noUsage,
  turnUsage: null,
  turn: { phase: 'idle', last: null },
})

/** The model that answers now: the session's, unless another does in its place. */
export const modelNow = ({ turn, settings }: SessionState): ModelName =>
  turn.phase === 'idle' ? settings.model : (turn.fallback?.model ?? settings.model)

export const openCalls = (state: SessionState): readonly Call[] =>
  state.turn.phase === 'acting' ? state.turn.calls : []

export const findCall = (state: SessionState, id: CallId): Call | undefined =>
  openCalls(state).find((call) => call.id === id)

/** The calls that wait for a person, oldest question first: calls are prepared side by side, so it may not be the first call's. */
export const askedCalls = (state: SessionState): readonly Extract<Call, { status: 'asked' }>[] =>
  openCalls(state)
    .filter((call) => call.status === 'asked')
    .toSorted((left, right) => left.approval - right.approval)

/** Waits for a person, however long it takes; a question with a deadline needs someone who watches the clock. */
const isPatient = (call: Call): boolean => call.status === 'asked' && call.expiresAt === null

/** Whether someone has to be working on the session: a turn that only waits for a person waits just as well alone. */
export const isAtWork = (state: SessionState): boolean =>
  state.turn.phase !== 'idle' && !(state.turn.phase === 'acting' && state.turn.calls.every(isPatient))
