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
import type { EncodedRecord } from './store/log.ts'

/** Work that traces show as one span. */
export type ObservedWork =
  | { readonly type: 'call-model'; readonly step: StepId; readonly model: ModelName }
  | { readonly type: 'run-tool'; readonly call: CallId; readonly tool: string }
  | { readonly type: 'prepare-step' | 'finish-turn' | 'prepare-call' | 'await-approval' | 'follow-child' }

/** A failed try, how many were made so far, and when the next begins. */
export type ObservedRetry = { readonly tries: number; readonly fault: ModelFault; readonly waitMs: number }

/** The result of asking a model for a text. */
export type ObservedText = { readonly usage: Usage | null } | { readonly failed: string }

/**
 * Observes sessions for traces and logs, and changes nothing. All methods are optional. They must not throw and must be
 * fast. Deltas are not observed, except the first of a step.
 */
export interface Observer {
  /** New records that are on stable storage; not records that are read. */
  recorded?(session: SessionId, records: readonly EncodedRecord[]): void
  /** The first part of a step's answer arrived. */
  answering?(session: SessionId, step: StepId): void
  /** The model did not accept a step's call and is called again later. */
  retrying?(session: SessionId, step: StepId, retry: ObservedRetry): void
  /** A command was answered or refused. */
  answered?(session: SessionId, submission: Submission, answer: Result<Answer>, durationMs: number): void
  /** The store began to refuse the session's writes; null when it accepts them again. */
  storage?(session: SessionId, error: StorageError | null): void
  /** The session no longer runs here. */
  left?(session: SessionId): void
  /** Runs the work of an effect. */
  during?<Value>(session: SessionId, work: ObservedWork, run: () => Promise<Value>): Promise<Value>
  /** Asks a model for a text outside a turn: a title, a summary. */
  asking?<Written extends ObservedText>(
    session: SessionId,
    model: ModelName,
    ask: () => Promise<Written>,
  ): Promise<Written>
}

/** An unexpected error: where it happened, and the cause. */
export type Problem = { readonly where: string; readonly cause: unknown }

/** Reports a problem. It must not throw: no caller could handle that. */
export type OnProblem = (problem: Problem) => void
