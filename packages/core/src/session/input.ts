import type {
  BlobHash,
  CallId,
  Command,
  EventOf,
  FileChange,
  Finish,
  LineLength,
  Mode,
  ModelFault,
  ModelName,
  Outcome,
  Preview,
  ProcessMark,
  RotationEntry,
  Seq,
  SessionId,
  StepId,
  Submission,
  ThinkingLevel,
  TurnNumber,
  Usage,
} from '@holdfast/protocol'
import type { CallFacts } from '../policy/verdict.ts'
import type { SaidPart } from '../ports/provider.ts'
import type { Draft } from '../ports/store.ts'
import type { Pin } from './state.ts'

/** What the runtime looked up for a command before it is decided. */
export type Facts = {
  /** Who answered the approval that the command names, when it is no longer open. */
  readonly decided?: { readonly by: string } | undefined
  /** The text of the running answer so far. */
  readonly draft?: Draft | null | undefined
  /** The output of running calls so far. */
  readonly printed?: Printed | undefined
  /** Where the named turn ends, and the length of the line there. */
  readonly end?: TurnEndPlace | undefined
  /** The named message, if it is on the line. */
  readonly message?: { readonly isTold: boolean; readonly isCall: boolean; readonly tokens: number } | undefined
  /** Whether any call of the line is shown collapsed. */
  readonly isAnyFolded?: boolean | undefined
  /** The newest answer on the line, where the state does not know it. */
  readonly lastAnswer?: Pin | null | undefined
  /** The first message to keep, and the tokens of those kept. */
  readonly keepFrom?: { readonly seq: Seq; readonly tokens: number; readonly messages: number } | undefined
  /** The summary that a program set, if the model sees it. */
  readonly setSummary?: string | undefined
  /** The context size of the model. */
  readonly contextTokens?: number | undefined
  readonly checkpoint?: NewCheckpoint | undefined
  /** About how many tokens of messages and summary the model sees now. */
  readonly windowTokens?: number | undefined
  readonly saved?: Pick<EventOf<'summary.saved'>, 'path' | 'text' | 'usage' | 'model'> | undefined
  /** The real path of the named folder. */
  readonly workdir?: string | undefined
  /** The models of the rotation that are ready. */
  readonly rotation?: readonly RotationEntry[] | undefined
  /** The thinking levels of the session's model; all when unknown. */
  readonly thinkingLevels?: readonly ThinkingLevel[] | undefined
  /** The id for a new fork. */
  readonly fork?: SessionId | undefined
}

export type TurnEndPlace = { readonly seq: Seq } & LineLength

/** A written summary of everything before `keepFrom`. */
export type NewCheckpoint = Pick<
  EventOf<'checkpoint.written'>,
  'summary' | 'keepFrom' | 'prompt' | 'usage' | 'model'
> & {
  /** About how many tokens the model is spared. */
  readonly savedTokens: number
}

/** Output by call, as far as it was shown. */
export type Printed = ReadonlyMap<CallId, string>

/** A request about this process: who drives, which keys it finds. It is never recorded, and no session decides it. */
export type ProcessRequest = Extract<Command, { type: 'claimDriver' | 'handOver' | 'refreshCredentials' }>

/** A command that a session decides. */
export type SessionCommand = Exclude<Command, ProcessRequest>

/** A parsed command of a session, with its id and its sender. */
export type SessionSubmission = Submission & { readonly command: SessionCommand }

/** A command with the facts that were looked up for it. */
export type Asked = { readonly type: 'command'; readonly facts: Facts } & SessionSubmission

/** What an effect reports. Only the runtime can build one; no route parses it. */
export type Report =
  | {
      readonly type: 'step.prepared'
      readonly turn: TurnNumber
      /** The mode that the system text describes. */
      readonly mode: Mode
      readonly system: BlobHash
      readonly tools: BlobHash
      /** The new summary, or why it could not be written; null when none was needed. */
      readonly checkpoint: NewCheckpoint | { readonly failed: string } | null
    }
  /** The step cannot start: a key or a blob is missing. */
  | { readonly type: 'step.refused'; readonly turn: TurnNumber; readonly fault: ModelFault }
  | {
      readonly type: 'model.replied'
      readonly step: StepId
      readonly parts: readonly SaidPart[]
      readonly finish: Finish
      readonly usage: Usage | null
      readonly estimate?: Usage | undefined
    }
  | {
      readonly type: 'model.failed'
      readonly step: StepId
      readonly parts: readonly SaidPart[]
      readonly fault: ModelFault
      /** What happened, for the notice of a fallback. */
      readonly happened?: string | undefined
      readonly usage: Usage | null
      /** When the call was not accepted: the model that may answer instead, null when there is none. */
      readonly fallback?: ModelName | null | undefined
    }
  /** The model did not accept the call and is called again later; `tries` counts the calls so far. */
  | {
      readonly type: 'model.retrying'
      readonly step: StepId
      readonly tries: number
      readonly fault: ModelFault
      readonly happened?: string | undefined
      readonly waitMs: number
    }
  | {
      readonly type: 'call.prepared'
      readonly call: CallId
      readonly found:
        | { readonly facts: CallFacts; readonly argsHash: BlobHash; readonly preview: Preview }
        | { readonly unusable: string }
      /** When it was prepared: the time limit of a question starts then. */
      readonly atMs: number
    }
  | { readonly type: 'approval.expired'; readonly call: CallId }
  | {
      readonly type: 'tool.starting'
      readonly call: CallId
      readonly facts: CallFacts
      readonly process: ProcessMark | null
    }
  | {
      readonly type: 'tool.finished'
      readonly call: CallId
      readonly outcome: Outcome
      readonly durationMs: number
      readonly files: readonly FileChange[]
    }
  /** A model wrote a title. */
  | { readonly type: 'title.written'; readonly title: string; readonly model: ModelName; readonly usage: Usage | null }
  /** An aborted call left a process running that we cannot end. */
  | { readonly type: 'process.escaped'; readonly tool: string; readonly text: string }
  /** The process released the session cleanly. */
  | { readonly type: 'process.stopped'; readonly draft: Draft | null }
  /** The process that ran the session died, and another took over. */
  | { readonly type: 'process.restarted'; readonly draft: Draft | null }

export type Input = Asked | Report
