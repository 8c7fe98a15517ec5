import type {
  Finish,
  ModelFault,
  ModelList,
  ModelName,
  ProviderOptions,
  Result,
  RotationEntry,
  ThinkingLevel,
  Usage,
} from '@holdfast/protocol'

/** What a provider wants back with a part of its answer; nobody else reads it. */
export type ProviderMeta = { readonly [key: string]: unknown }

/** What a model said, whole: a part of its answer that can be recorded. */
export type SaidPart =
  | { readonly type: 'thinking' | 'text'; readonly text: string; readonly meta?: ProviderMeta | undefined }
  | {
      readonly type: 'call'
      readonly tool: string
      readonly args: { readonly [key: string]: unknown }
      readonly meta?: ProviderMeta | undefined
      /** Why the model's arguments cannot be used, if they cannot. */
      readonly malformed?: string | undefined
    }

/** A tool as a model is told of it. */
export type ToolSchema = {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly input: { readonly [key: string]: unknown }
}

/** History as every provider understands it. Calls are named `c17`, from their seq, so ids are unique and stable. */
export type RequestMessage =
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] }

export type UserPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file'
      readonly mediaType: string
      readonly name?: string | undefined
      readonly bytes: Uint8Array
    }
export type AssistantPart =
  | { readonly type: 'thinking' | 'text'; readonly text: string; readonly meta?: ProviderMeta | undefined }
  | {
      readonly type: 'call'
      readonly id: string
      readonly tool: string
      readonly args: { readonly [key: string]: unknown }
      readonly meta?: ProviderMeta | undefined
    }
export type ToolResultPart = {
  readonly id: string
  readonly tool: string
  readonly text: string
  readonly isError: boolean
}

/** All that a model is told. Built from records and blobs alone: the same log gives the same bytes. */
export type ModelRequest = {
  readonly model: ModelName
  readonly thinkingLevel: ThinkingLevel
  readonly system: string
  readonly tools: readonly ToolSchema[]
  readonly messages: readonly RequestMessage[]
  /** What the service is asked beyond that, in its own words. */
  readonly providerOptions?: ProviderOptions | undefined
  /** A summary is asked for rather than the next step of a turn. */
  readonly purpose?: 'summary' | undefined
}

/** Parts arrive in order and end with exactly one `end`. */
export type ModelPart =
  /** A fragment of part `part`, to be shown live. `input` is a call's arguments as they are written. */
  | {
      readonly type: 'delta'
      readonly part: number
      readonly kind: 'text' | 'thinking' | 'input'
      readonly text: string
      readonly tool?: string | undefined
    }
  /** Part `part` is complete. */
  | { readonly type: 'said'; readonly part: number; readonly said: SaidPart }
  | { readonly type: 'end'; readonly end: ModelEnd }

export type ModelEnd =
  | {
      readonly type: 'complete'
      readonly finish: Extract<Finish, 'stop' | 'calls' | 'length' | 'refused'>
      /** Null where the service does not say. */
      readonly usage: Usage | null
      /** About what it used then, so that a budget can hold. */
      readonly estimate?: Usage | undefined
    }
  | { readonly type: 'aborted' }
  | {
      readonly type: 'failed'
      readonly fault: ModelFault
      /** What happened, without what a person could do about it; the fault's own words when absent. */
      readonly happened?: string | undefined
      readonly retryable: boolean
      readonly retryAfterMs: number | null
      readonly usage: Usage | null
    }

/** An adapter to a model service. It never throws for what the network does: the end is always a part. */
export interface Provider {
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>
}

export type ModelReadiness =
  | {
      readonly type: 'ready'
      readonly provider: Provider
      /** How many tokens it takes; `limits.contextTokens` when nobody knows. */
      readonly contextTokens?: number | undefined
      /** Which files it takes beside text: media types, or `image/*`. Images and PDF files when absent. */
      readonly takes?: readonly string[] | undefined
      /** Which thinking levels it knows; all of them when absent. */
      readonly thinkingLevels?: readonly ThinkingLevel[] | undefined
      /** Where it is called, for people: an address without anything secret. */
      readonly endpoint?: string | undefined
    }
  | { readonly type: 'unknown_model'; readonly message: string }
  | { readonly type: 'no_credentials'; readonly message: string }

/** Which models can be called now, and which one after which. */
export interface Models {
  find(model: ModelName): ModelReadiness
  /** The model a session gets when nobody names one: it may be another once a key is found, or a server on this machine. */
  defaultModel(): ModelName
  /** What `cycleModel` goes round: as configured, but for what cannot be called now. */
  rotation(): readonly RotationEntry[]
  /**
   * The next to try when `model` is overloaded or out of reach, of those that can be called and were not tried; null at the
   * end. May ask this machine, but never for long.
   */
  fallback(model: ModelName, tried: readonly ModelName[]): Promise<ModelName | null>
  /** All that is known of, and why what cannot be called cannot. Asks the network for what runs on this machine, but never for long. */
  list(): Promise<ModelList>
  /** Looks anew for credentials and for what runs on this machine. Refused when the stored credentials cannot be read. */
  refresh(): Promise<Result<void>>
  /** Calls back whenever what `find` says may be otherwise: after a refresh, and when something else runs on this machine. */
  onChanged(listener: () => void): void
}
