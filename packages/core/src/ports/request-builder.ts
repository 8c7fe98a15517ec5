import type { Line, MessageId, ModelName, ProviderOptions, Seq, SessionId, ThinkingLevel } from '@holdfast/protocol'
import type { ModelRequest, ToolSchema } from './provider.ts'

/** Which part of a log the model sees, as the state knows it. */
export type WindowPosition = {
  readonly session: SessionId
  readonly line: Line
  /** Up to here, inclusive. */
  readonly seq: Seq
  readonly checkpoint: Seq | null
  readonly pins: readonly { readonly message: MessageId }[]
}

/** The input of a request. Plain data, so that it can be sent to another thread. */
export type RequestAsked = WindowPosition & {
  readonly model: ModelName
  readonly thinkingLevel: ThinkingLevel
  readonly system: string
  readonly tools: readonly ToolSchema[]
  /** The media types that the model accepts; images and PDF files when absent. */
  readonly takes?: readonly string[] | undefined
  readonly providerOptions?: ProviderOptions | null | undefined
}

/**
 * Builds model requests from log and blobs: the same bytes on any thread. It sees every record that was acknowledged
 * before the call.
 */
export interface RequestBuilder {
  /** Throws `WindowDamaged` for an unreadable record, and a `HoldfastError` for other known causes. */
  build(asked: RequestAsked): Promise<ModelRequest>
  /** Prepares for a request: a session woke. */
  expect(): void
}
