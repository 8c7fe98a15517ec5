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

/** What the runtime found out for a command before it is decided: the past it names, the answer under way. */
export type Facts = {
  /** How the approval the command names was answered, when it no longer waits. */
  readonly decided?: { readonly by: string } | undefined
  /** What the running answer has said so far. */
  readonly draft?: Draft | null | undefined
  /** What running calls have printed so far. */
  readonly printed?: Printed | undefined
  /** Where the turn the command names ends, and how long the line is there. */
  readonly end?: TurnEndPlace | undefined
  /** The message the command names, if it is on the line. */
  readonly message?: { readonly isTold: boolean; readonly isCall: boolean; readonly tokens: number } | undefined
  /** Whether any call of the line is shown folded. */
  readonly isAnyFolded?: boolean | undefined
  /** The newest answer on the line, where the state does not know it. */
  readonly lastAnswer?: Pin | null | undefined
  /** The first of the messages to keep, and about how many tokens they are. */
  readonly keepFrom?: { readonly seq: Seq; readonly tokens: number; readonly messages: number } | undefined
  /** The summary that a program set, if that is what the model is told. */
  readonly setSummary?: string | undefined
  /** How many tokens the model takes. */
  readonly contextTokens?: number | undefined
  readonly checkpoint?: NewCheckpoint | undefined
  /** About how many tokens of messages and summary the model is told now. */
  readonly windowTokens?: number | undefined
  readonly saved?: Pick<EventOf<'summary.saved'>, 'path' | 'text' | 'usage' | 'model'> | undefined
  /** The real path of the folder the command names. */
  readonly workdir?: string | undefined
  /** The models to go round, of those that can be called. */
  readonly rotation?: readonly RotationEntry[] | undefined
  /** The thinking levels the session's model knows; all where nobody knows. */
  readonly thinkingLevels?: readonly ThinkingLevel[] | undefined
  /** The id for a new fork. */
  readonly fork?: SessionId | undefined
}

export type TurnEndPlace = { readonly seq: Seq } & LineLength

/** A summary as it was written, of what lies before `keepFrom`. */
export type NewCheckpoint = Pick<
  EventOf<'checkpoint.written'>,
  'summary' | 'keepFrom' | 'prompt' | 'usage' | 'model'
> & {
  /** About how many tokens the model is spared. */
  readonly savedTokens: number
}

/** Output by call, as far as it was shown. */
export type Printed = ReadonlyMap<CallId, string>

/** A request that concerns the process and not the record: who drives, which keys are found. No session decides it. */
export type ProcessRequest = Extract<Command, { type: 'claimDriver' | 'handOver' | 'refreshCredentials' }>

/** A command that a session decides. */
export type SessionCommand = Exclude<Command, ProcessRequest>

/** A parsed command of a session, with its id and its sender. */
export type SessionSubmission = Submission & { readonly command: SessionCommand }

/** A command with the facts that were looked up for it. */
export type Asked = { readonly type: 'command'; readonly facts: Facts } & SessionSubmission

/** What an effect tells us came of it. Only the runtime can build one; no route parses it. */
export type Report =
  | {
      readonly type: 'step.prepared'
      readonly turn: TurnNumber
      /** The mode the system text speaks of. */
      readonly mode: Mode
      readonly system: BlobHash
      readonly tools: BlobHash
      /** The past as it was summarised on the way, or why it could not be; null when there was no need. */
      readonly checkpoint: NewCheckpoint | { readonly failed: string } | null
    }
  /** The step cannot even be tried: no credentials any more, a blob that is gone. */
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
      /** What happened alone, for the notice of a fallback. */
      readonly happened?: string | undefined
      readonly usage: Usage | null
      /** Where it could not take the call: who may answer in its place, null when nobody can. */
      readonly fallback?: ModelName | null | undefined
    }
  /** The model could not take the call and is asked again after a while; `tries` is how often it was asked by now. */
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
      /** When it was prepared: a question's time runs from there. */
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
  /** A model was asked what the session is to be called. */
  | { readonly type: 'title.written'; readonly title: string; readonly model: ModelName; readonly usage: Usage | null }
  /** An aborted call left something running that is out of our reach. */
  | { readonly type: 'process.escaped'; readonly tool: string; readonly text: string }
  /** The process lets go of the session, cleanly. */
  | { readonly type: 'process.stopped'; readonly draft: Draft | null }
  /** The process that ran this session died and another has taken it up. */
  | { readonly type: 'process.restarted'; readonly draft: Draft | null }

export type Input = Asked | Report
