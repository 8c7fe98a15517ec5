import type {
  ActiveSkill,
  BlobHash,
  CallId,
  ChildOutcome,
  Command,
  DenialCode,
  Event,
  Fault,
  FileChange,
  Finish,
  HookRun,
  Mode,
  ModelFault,
  ModelName,
  Outcome,
  Output,
  Preview,
  ProcessMark,
  QuestionPreview,
  RestoredFile,
  Result,
  SeenLines,
  Seq,
  SessionId,
  StepId,
  Submission,
  Trust,
  TurnNumber,
  Usage,
} from '@holdfast/protocol'
import type { CallFacts } from '../policy/verdict.ts'
import type { HookAnswer } from '../ports/hooks.ts'
import type { SaidPart } from '../ports/provider.ts'
import type { Draft } from '../ports/store/draft.ts'
import type { Facts, NewCheckpoint } from './facts.ts'
import type { SessionState } from './state.ts'

/** The commands about this process: who drives, which keys it finds, what runs in the background. */
export const processRequests = [
  'claimDriver',
  'handOver',
  'refreshCredentials',
  'stopBackgroundShell',
  'retryServer',
] as const

/** A request about this process. It is never recorded, and no session decides it. */
export type ProcessRequest = Extract<Command, { type: (typeof processRequests)[number] }>

export const isProcessRequest = (command: Command): command is ProcessRequest =>
  processRequests.some((type) => type === command.type)

/** A command that a session decides. */
export type SessionCommand = Exclude<Command, ProcessRequest>

/** A parsed command of a session, with its id and its sender. */
export type SessionSubmission = Submission & { readonly command: SessionCommand }

/** A command with the facts that were looked up for it. */
export type Asked = { readonly type: 'command'; readonly facts: Facts } & SessionSubmission

/** What an effect reports. Only the runtime can build one; no route parses it. */
export type Report = Readonly<
  | {
      type: 'step.prepared'
      turn: TurnNumber
      /** The mode that the system text describes. */
      mode: Mode
      system: BlobHash
      tools: BlobHash
      /** The new summary, or why it could not be written; null when none was needed. */
      checkpoint: NewCheckpoint | { readonly failed: string } | null
      /** What the model does not know yet of commands in the background. */
      news?: { readonly text: string; readonly isBreach: boolean } | undefined
      /** The hooks that ran while it was prepared. */
      hooks?: readonly HookRun[] | undefined
      /** The budgets of the session at the top of the tree, and what the whole tree has used; absent without subagents. */
      tree?: { readonly budgets: SessionState['settings']['budgets']; readonly used: Usage } | undefined
    }
  /** The step cannot start: a key or a blob is missing. */
  | { type: 'step.refused'; turn: TurnNumber; fault: ModelFault }
  | {
      type: 'model.replied'
      step: StepId
      parts: readonly SaidPart[]
      finish: Finish
      usage: Usage | null
      estimate?: Usage | undefined
      /** Whether hooks must agree before the turn ends. */
      hasStopHooks?: boolean | undefined
    }
  | {
      type: 'model.failed'
      step: StepId
      parts: readonly SaidPart[]
      fault: ModelFault
      /** What happened, for the notice of a fallback. */
      happened?: string | undefined
      usage: Usage | null
      /** When the call was not accepted: the model that may answer instead, null when there is none. */
      fallback?: ModelName | null | undefined
    }
  /** A cap keeps the next step from starting, or no cap can count its model. */
  | { type: 'step.capped'; turn: TurnNumber; fault: Fault }
  /** The model did not accept the call and is called again later; `tries` counts the calls so far. */
  | {
      type: 'model.retrying'
      step: StepId
      tries: number
      fault: ModelFault
      happened?: string | undefined
      waitMs: number
    }
  /** The turn is answered. `hooks` is null if no Stop hook ran. */
  | {
      type: 'turn.finishing'
      turn: TurnNumber
      hooks: ({ readonly runs: readonly HookRun[] } & Pick<HookAnswer, 'block' | 'stop'>) | null
    }
  /** Hooks ran outside the preparation of a step, and before the result of a call. */
  | { type: 'hooks.ran'; runs: readonly HookRun[]; call?: CallId | undefined; args?: HookAnswer['args'] | undefined }
  /** `atMs` is when it was prepared: the time limit of a question starts then. */
  | { type: 'call.prepared'; call: CallId; found: FoundCall; atMs: number }
  /** The content that an approved call depends on is another now; it was prepared again. */
  | { type: 'call.changed'; call: CallId; found: ReadyCall; atMs: number }
  | { type: 'approval.expired'; call: CallId }
  /** A running call asks a person. `atMs` is when: the time limit of the question starts then. */
  | { type: 'question.asked'; call: CallId; preview: QuestionPreview; atMs: number }
  | { type: 'tool.starting'; call: CallId; facts: CallFacts; process: ProcessMark | null }
  | {
      type: 'tool.finished'
      call: CallId
      outcome: Outcome
      durationMs: number
      files: readonly FileChange[]
      seen?: readonly SeenLines[] | undefined
      /** The new list of tasks, if the call wrote one. */
      todos?: SessionState['todos'] | undefined
      /** The skill that the call has told the model. */
      skill?: Pick<ActiveSkill, 'name' | 'hash'> | undefined
      /** The hooks that saw the result. */
      hooks?: readonly HookRun[] | undefined
      /** The subagent that it waited for, and how its work ended. */
      child?: { readonly session: SessionId; readonly status: ChildOutcome } | undefined
    }
  /** A call is about to start a subagent. */
  | { type: 'child.starting'; call: CallId; child: SessionId; agent: string; task: string; background: boolean }
  /** The work of a subagent in the background has ended. */
  | ({ type: 'child.finished'; child: SessionId } & ChildEnd)
  /** A subagent gets its task. */
  | { type: 'task.given'; task: string; payer: SessionState['payer'] }
  /** Calls were trusted in a session of the tree. `isGranted`: here, at its top; otherwise only open questions are answered. */
  | { type: 'trust.spread'; trust: Pick<Trust, 'tool' | 'argsHash'>; isGranted: boolean; rule: string }
  /** Files are about to be put back. */
  | { type: 'restore.starting'; items: readonly RestoredFile[]; undoOf?: Seq | undefined }
  /** A model wrote a title. */
  | { type: 'title.written'; title: string; model: ModelName; usage: Usage | null }
  /** A call changed these files before it was aborted, or work of it did so after it was settled; or a slash command did. */
  | {
      type: 'files.found'
      call?: CallId | undefined
      /** The name of the slash command. */
      slashCommand?: string | undefined
      files: readonly FileChange[]
      /** A sentence for people, if it changed lines outside an edit boundary. */
      notice?: string | undefined
    }
  /** An aborted call left a process running that we cannot end. */
  | { type: 'process.escaped'; tool: string; text: string }
  /** The process released the session cleanly. */
  | ({ type: 'process.stopped' } & Left)
  /** The process that ran the session died, and another took over. */
  | ({ type: 'process.restarted' } & Left)
>

/** What a process left of a session. */
export type Left = Readonly<{
  draft: Draft | null
  /** What became of the subagents that the session waits for. */
  children?: readonly FoundChild[] | undefined
}>

/** A subagent of a session that was not loaded: it waits for an approval, or its work has ended. */
export type FoundChild = { readonly session: SessionId; readonly end: ChildEnd | null }

/** How the work of a subagent ended, what it said last, and what it did to files. `handle` is null if it never began. */
export type ChildEnd = Readonly<{ status: ChildOutcome; output: Output; handle: string | null; files?: FileChanges }>
type FileChanges = readonly FileChange[] | undefined

export type ReadyCall = Readonly<{
  facts: CallFacts
  argsHash: BlobHash
  preview: Preview
  contentHash?: BlobHash | undefined
}>

type FoundCall = ReadyCall | Readonly<{ unusable: string; denied?: DenialCode | undefined }>

export type Input = Asked | Report

export type CommandOf<Type extends SessionCommand['type']> = Extract<SessionCommand, { type: Type }>
export type ReportOf<Type extends Report['type']> = Extract<Report, { type: Type }>

export type Events = readonly Event[]

/** The events that an input makes, or why it is refused. */
export type Decided = Result<Events>
