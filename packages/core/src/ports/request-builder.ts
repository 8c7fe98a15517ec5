import type { Line, MessageId, ModelName, ProviderOptions, Seq, SessionId, ThinkingLevel } from '@holdfast/protocol'
import type { ModelRequest, ToolSchema } from './provider.ts'

/** Which part of a log the model sees, as the state knows it. */
export type WindowPosition = {
  /** The session whose log is read. */
  readonly session: SessionId
  /** The line whose messages the model sees. */
  readonly line: Line
  /** Up to here, inclusive. */
  readonly seq: Seq
  /** The seq of the active compaction, or null. */
  readonly checkpoint: Seq | null
  /** The pinned messages, which stay in the context. */
  readonly pins: readonly { readonly message: MessageId }[]
}

/** The input of a request. Plain data, so that it can be sent to another thread. */
export type RequestAsked = WindowPosition & {
  /** The model to call. */
  readonly model: ModelName
  /** How much the model should think. */
  readonly thinkingLevel: ThinkingLevel
  /** The system prompt. */
  readonly system: string
  /** The tools to offer. */
  readonly tools: readonly ToolSchema[]
  /** The media types that the model accepts; images and PDF files when absent. */
  readonly takes?: readonly string[] | undefined
  /** Options for the service, in its own terms. */
  readonly providerOptions?: ProviderOptions | null | undefined
}

/**
 * Builds model requests from log and blobs: the same bytes on any thread. It sees every record that was acknowledged
 * before the call.
 */
export interface RequestBuilder {
  /** Throws `WindowDamaged` for an unreadable record, and a `HoldfastError` for other known causes. */
  build(asked: RequestAsked): Promise<ModelRequest>
}
