import type { Line, MessageId, ModelName, ProviderOptions, Seq, SessionId, ThinkingLevel } from '@holdfast/protocol'
import type { ModelRequest, ToolSchema } from './provider.ts'

/** Which part of a log a model is to see: what the state knows of it. */
export type WindowPlace = {
  readonly session: SessionId
  readonly line: Line
  /** Up to here, inclusive. */
  readonly seq: Seq
  readonly checkpoint: Seq | null
  readonly pins: readonly { readonly message: MessageId }[]
}

/** What a request is asked for with. Plain data: it may cross to another thread. */
export type RequestAsked = WindowPlace & {
  readonly model: ModelName
  readonly thinkingLevel: ThinkingLevel
  readonly system: string
  readonly tools: readonly ToolSchema[]
  /** Which files the model takes; images and PDF files when absent. */
  readonly takes?: readonly string[] | undefined
  readonly providerOptions?: ProviderOptions | null | undefined
}

/**
 * Puts together what a model is sent, from the log and its blobs: the same bytes wherever it is done, here or on another
 * thread. Every record that was acknowledged before the question is seen.
 */
export interface RequestBuilder {
  /** Throws `WindowDamaged` for a record that cannot be read, and a `HoldfastError` where it is known what is wrong. */
  build(asked: RequestAsked): Promise<ModelRequest>
  /** A session woke: a request may be asked for soon. */
  expect(): void
}
