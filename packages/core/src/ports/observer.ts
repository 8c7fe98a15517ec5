import type {
  Answer,
  CallId,
  ModelFault,
  ModelName,
  Result,
  SessionId,
  StepId,
  StorageError,
  Submission,
  Usage,
} from '@holdfast/protocol'
import type { EncodedRecord } from './log.ts'

/** Work whose calls to the outside should be seen as its own. */
export type ObservedWork =
  | { readonly type: 'call-model'; readonly step: StepId }
  | { readonly type: 'run-tool'; readonly call: CallId; readonly tool: string }
  | { readonly type: 'prepare-step' | 'prepare-call' | 'await-approval' }

/** What became of a try, how many were made by now, and when the next begins. */
export type ObservedRetry = { readonly tries: number; readonly fault: ModelFault; readonly waitMs: number }

/** What came of asking a model for a text. */
export type ObservedText = { readonly usage: Usage | null } | { readonly failed: string }

/**
 * Looks on while sessions run, for traces and logs, and changes nothing. It hears what it has a method for, must not throw,
 * and must be quick: it is called where sessions work. It is never called for a delta, but for the first of a step.
 */
export interface Observer {
  /** Records that were just made and are on stable storage; never what is read back. */
  recorded?(session: SessionId, records: readonly EncodedRecord[]): void
  /** The first word of a step's answer is here. */
  answering?(session: SessionId, step: StepId): void
  /** The model could not take the call of a step, and is asked again after a while. */
  retrying?(session: SessionId, step: StepId, retry: ObservedRetry): void
  /** A command was answered, or refused. */
  answered?(session: SessionId, submission: Submission, answer: Result<Answer>, durationMs: number): void
  /** The store began to refuse what the session writes, or takes it again: then `error` is null. */
  storage?(session: SessionId, error: StorageError | null): void
  /** The session is no longer run here, however that came. */
  left?(session: SessionId): void
  /** Does the work of an effect. */
  during?<Value>(session: SessionId, work: ObservedWork, run: () => Promise<Value>): Promise<Value>
  /** Asks a model for a text apart from the steps of a turn: a title, a summary. */
  asking?<Written extends ObservedText>(
    session: SessionId,
    model: ModelName,
    ask: () => Promise<Written>,
  ): Promise<Written>
}

/** Something nobody foresaw: where it happened, and what it was. */
export type Problem = { readonly where: string; readonly cause: unknown }

/** Where problems are told. It must not throw: it is called where nobody could catch. */
export type OnProblem = (problem: Problem) => void
