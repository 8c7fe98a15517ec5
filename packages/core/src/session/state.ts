import {
  type ActiveSkill,
  type ApprovalId,
  type BlobHash,
  type Branch,
  type BranchName,
  type CallId,
  type CheckpointMark,
  type Fork,
  type Handle,
  type Instant,
  type KeptBoundary,
  type Key,
  type Line,
  type LineLength,
  localPayer,
  type MessageId,
  type ModelFault,
  type ModelName,
  noUsage,
  type Payer,
  type Preview,
  type ProcessMark,
  type ProviderOptions,
  type QuestionPreview,
  type QueueEntry,
  type SeenFile,
  type Seq,
  type SessionId,
  type Settings,
  type StepId,
  type Subagent,
  type ThinkingLevel,
  type Todo,
  type Trust,
  type TurnEnd,
  type TurnNumber,
  type Usage,
} from '@holdfast/protocol'
import type { OpenChild } from './open-child.ts'

/**
 * Everything that `decide` and `plan` need to know. It holds no message bodies, so it does not grow with the
 * conversation. Plain data: its JSON is its snapshot.
 */
export type SessionState = {
  readonly seq: Seq
  readonly origin: Origin | null
  readonly settings: Settings
  /** Whether the session is listed first and never pruned. */
  readonly isPinned: boolean
  /** The system text and tool schemas of the last step. */
  readonly context: { readonly system: BlobHash; readonly tools: BlobHash } | null
  readonly line: Line
  /** The current branch; null for a line without a name. */
  readonly branch: BranchName | null
  /** How many turns and messages the line has. */
  readonly turns: number
  readonly messages: number
  /** About how many tokens the model would be sent now. */
  readonly tokens: number
  /** Whether that is at least partly our estimate, and not the service's count. */
  readonly isEstimate: boolean
  /** The lines that were left, oldest first; bounded by `limits.branchesMax`. */
  readonly branches: readonly KeptBranch[]
  /** How many branches were named by us. */
  readonly branchesNamed: number
  /** The newest checkpoints that were not undone, on any line. */
  readonly checkpoints: readonly Checkpoint[]
  /** The checkpoint that applies to this line. */
  readonly checkpoint: Seq | null
  /** What delays the next automatic compaction: a person undid one, or one failed at this size. */
  readonly compaction: { readonly isUndone: boolean; readonly failedAt: number | null }
  /** Waiting prompts; the only content in the state, bounded by `limits.promptsQueuedMax`. */
  readonly queue: readonly QueueEntry[]
  /** Standing approvals; those for a turn end with it. */
  readonly trust: readonly Trust[]
  /** The lines that tools may change, by file; bounded by `limits.boundariesMax`. */
  readonly boundaries: readonly KeptBoundary[]
  /** The files that the model has seen on this line; bounded by `limits.seenFilesMax`. */
  readonly seen: readonly SeenFile[]
  /** The skills that the session follows, the newest last; bounded by `limits.activeSkillsMax`. */
  readonly skills: readonly ActiveSkill[]
  /** The agent's list of tasks; bounded by `limits.todosMax`. */
  readonly todos: readonly Todo[]
  /** The subagents whose result is not delivered yet; bounded by `limits.subagentsMax`. */
  readonly children: readonly OpenChild[]
  /** Messages that always stay in the model's context. */
  readonly pins: readonly Pin[]
  /** Which tool calls are shown collapsed: all or none, except these. */
  readonly collapse: { readonly all: boolean; readonly except: readonly MessageId[] }
  /** The newest answer, which a client may want to pin. */
  readonly lastAnswer: Pin | null
  /** Calls whose result the program that leads the conversation has not sent yet; at most one round. */
  readonly awaited: readonly AwaitedCall[]
  /** Whether the stored client events cover the whole session. */
  readonly clientEventsComplete: boolean
  /** What the session has used so far, without unknown prices: budgets are compared with this. */
  readonly used: Usage
  /** Who pays for the running or last turn. */
  readonly payer: Payer
  /** What the running or last turn has used; null when unknown. */
  readonly turnUsage: Usage | null
  readonly turn: Turn
}

/** The code of the notice about a failed compaction. */
export const compactionFailed = 'compaction_failed'

/** A message with its approximate tokens. */
export type Pin = Fork['pins'][number]
export type Checkpoint = CheckpointMark
/** A call, with the id that its program uses. */
export type AwaitedCall = { readonly call: CallId; readonly id: string }
export type KeptBranch = Branch & LineLength & { readonly line: Line; readonly checkpoint: Seq | null }

export type Origin = {
  readonly handle: Handle
  readonly key: Key | null
  readonly workdir: string
  readonly tools: readonly string[] | null
  readonly readOnly: boolean
  /** Whether the session is stored on disk. */
  readonly persist: boolean
  readonly instructions: string | null
  /** Whether hooks run in the session. */
  readonly hooksEnabled: boolean
  /** Whether SessionStart hooks run in the session. */
  readonly sessionStartHook: boolean
  readonly providerOptions: ProviderOptions | null
  /** The session it was started for, or forked from. */
  readonly parent: SessionId | null
  /** Set if a call of the parent started it. */
  readonly subagent: Subagent | null
}

/** Illegal combinations do not compile: an idle session has no step, a thinking one has no calls. */
export type Turn = Readonly<
  | { phase: 'idle'; last: LastTurn | null }
  /** Between rounds: the next step is due. After an answer without calls, it is due only for a steering prompt. */
  | ({ phase: 'preparing'; isAnswered: boolean; attempt: number } & TurnCount)
  /** `attempt` counts the models that were called for this answer. */
  | ({ phase: 'thinking'; step: StepId; model: ModelName; thinkingLevel: ThinkingLevel; attempt: number } & TurnCount)
  /** Calls are open. A settled call leaves the list; the last one closes the round. */
  | ({
      phase: 'acting'
      step: StepId
      calls: readonly Call[]
      /** What calls of this round have written: a later call may find it. */
      written: readonly BlobHash[]
    } & TurnCount)
>

export type TurnCount = Readonly<{
  number: TurnNumber
  steps: number
  fallback: Fallback | null
  /** Why a hook ends the turn before its next model call; absent if none does. */
  stop?: string
  /** How often in a row a Stop hook made the turn go on. */
  goneOn?: number
}>

/** The model that answers for the rest of the turn, and the models that could not. */
type Fallback = { readonly model: ModelName; readonly tried: readonly ModelName[] }

type LastTurn = Readonly<{ number: TurnNumber; reason: TurnEnd; fault?: ModelFault }>

export type Call = { readonly id: CallId; readonly tool: string } & Hooked & CallProgress

/** What hooks did to a call. */
type Hooked = Readonly<{
  /** The record with the arguments that replace those of the model, and the hook that wrote them. */
  rewritten?: { readonly seq: Seq; readonly by: string }
  /** The records of the hooks that tell the model something with its result. */
  told?: readonly Seq[]
  /** What they said about its approval. */
  permission?: { readonly verdict: 'allow' | 'ask'; readonly by: string }
}>

export type CallProgress = Readonly<
  | { status: 'requested' }
  | ({
      status: 'asked'
      approval: ApprovalId
      preview: Preview
      expiresAt: Instant | null
      changed: boolean
      /** Why it is asked about each time; the rule that asks. */
      reason?: string
      rule?: string
    } & CallTarget)
  /** `preview` is what a person was shown; null if nobody was asked. */
  | ({ status: 'approved'; preview: Preview | null } & CallTarget)
  /** `hasChild`: it has started a subagent. */
  | { status: 'started'; argsHash: BlobHash; process: ProcessMark | null; question?: OpenQuestion; hasChild?: true }
>

/** What a running call asks a person. */
export type OpenQuestion = Readonly<{ approval: ApprovalId; preview: QuestionPreview; expiresAt: Instant | null }>

/** What an approval covers: these arguments, and this content if the call depends on any. */
type CallTarget = Readonly<{ argsHash: BlobHash; contentHash: BlobHash | null }>

/** Returns the state before the first record. A fork's first seq is `base + 1`. */
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
  boundaries: [],
  seen: [],
  skills: [],
  todos: [],
  children: [],
  pins: [],
  collapse: { all: false, except: [] },
  lastAnswer: null,
  awaited: [],
  clientEventsComplete: false,
  used: noUsage,
  payer: localPayer,
  turnUsage: null,
  turn: { phase: 'idle', last: null },
})

/** Whether an abort is meant for what runs now: it names the running turn, or none. */
export const isAbortOf = ({ turn }: SessionState, { turn: named }: { readonly turn?: number | undefined }): boolean =>
  named === undefined || (turn.phase !== 'idle' && turn.number === named)

/** Returns the model that answers now: the session's, or its fallback. */
export const modelNow = ({ turn, settings }: SessionState): ModelName =>
  turn.phase === 'idle' ? settings.model : (turn.fallback?.model ?? settings.model)

/** Whether the model has answered and nothing is left to do but to end the turn. */
export const isAnswered = ({ turn, queue }: SessionState): boolean =>
  turn.phase === 'preparing' && turn.isAnswered && !queue.some((entry) => entry.queue === 'steering')

export const openCalls = (state: SessionState): readonly Call[] =>
  state.turn.phase === 'acting' ? state.turn.calls : []

export const findCall = (state: SessionState, id: CallId): Call | undefined =>
  openCalls(state).find((call) => call.id === id)

/** Returns the calls that wait for a person, in the order of the calls. */
export const askedCalls = (state: SessionState): readonly Extract<Call, { status: 'asked' }>[] =>
  openCalls(state).filter((call) => call.status === 'asked')

/** A call that waits for a person: before it runs, or with a question while it runs. */
type WaitingCall = Pick<Call, 'id' | 'tool' | 'rewritten'> & {
  readonly approval: ApprovalId
  readonly preview: Preview
  readonly expiresAt: Instant | null
  readonly changed: boolean
  readonly reason?: string
  readonly rule?: string
}

/** Returns everything that waits for a person, in the order of the calls. */
export const waitingCalls = (state: SessionState): readonly WaitingCall[] =>
  openCalls(state).flatMap((call): readonly WaitingCall[] => {
    if (call.status === 'asked') return [call]
    if (call.status !== 'started' || !call.question) return []
    return [{ id: call.id, tool: call.tool, ...call.question, changed: false }]
  })

/** Whether a call waits for a person without a time limit, so that no timer has to run. */
const isPatient = (call: Call): boolean => call.status === 'asked' && call.expiresAt === null

/**
 * Whether a process must work on the session: a turn that only waits for a person needs none. A subagent whose result is not
 * delivered does.
 */
export const isAtWork = (state: SessionState): boolean => state.children.length > 0 || hasWork(state)

const hasWork = (state: SessionState): boolean =>
  state.turn.phase !== 'idle' && !(state.turn.phase === 'acting' && state.turn.calls.every(isPatient))

export function withoutUndefined<Values extends object>(
  values: Values,
): { [Key in keyof Values]: Exclude<Values[Key], undefined> } {
  const defined = { ...values }
  for (const key in defined) if (defined[key] === undefined) delete defined[key]
  return defined as never // the loop justifies the cast
}
