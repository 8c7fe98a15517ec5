import type { Result, SessionId, StepId } from '@holdfast/protocol'

/** Any JSON object. */
export type JsonObject = { readonly [key: string]: unknown }

/** Opaque data that a provider wants back with a part of its answer. */
export type ProviderMeta = JsonObject

/** A complete part of a model's answer, ready to be recorded. */
export type SaidPart =
  | { readonly type: 'thinking' | 'text'; readonly text: string; readonly meta?: ProviderMeta | undefined }
  | {
      readonly type: 'call'
      readonly tool: string
      readonly args: JsonObject
      readonly meta?: ProviderMeta | undefined
      /** Why the model's arguments cannot be used, if so. */
      readonly malformed?: string | undefined
    }

/** The text of a running answer, saved each second and dropped when the message is recorded. */
export type Draft = { readonly step: StepId; readonly parts: readonly SaidPart[] }

/** Stores the text of running answers, so that a crash loses at most about a second of it. */
export interface Drafts {
  /** Overwrites the session's draft. Refused when the epoch is old: fenced. */
  saveDraft(session: SessionId, epoch: number, draft: Draft): Promise<Result<void>>
  /** Returns the session's draft; null when there is none. */
  loadDraft(session: SessionId): Promise<Draft | null>
}
