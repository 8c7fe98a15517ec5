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
import type { JsonObject, ProviderMeta, SaidPart } from './store/draft.ts'

export type { JsonObject, ProviderMeta, SaidPart } from './store/draft.ts'

/** A tool as it is described to a model. */
export type ToolSchema = {
  /** The name by which the model calls it. */
  readonly name: string
  /** Tells the model what the tool does and when to use it. */
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly input: JsonObject
}

/** The history in a form every provider understands. Calls are named `c17` after their seq: unique and stable. */
export type RequestMessage =
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  | { readonly role: 'assistant'; readonly content: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] }

/** A part of a user's message: a text, or a file with its bytes. */
export type UserPart = Readonly<{ type: 'text'; text: string }> | RequestFile
/** A file with its bytes, as a part of a message. */
export type RequestFile = Readonly<{ type: 'file'; mediaType: string; name?: string | undefined; bytes: Uint8Array }>
/** A part of a model's message: thinking, text, or a call with its id. */
export type AssistantPart = Readonly<
  | { type: 'thinking' | 'text'; text: string; meta?: ProviderMeta | undefined }
  | { type: 'call'; id: string; tool: string; args: JsonObject; meta?: ProviderMeta | undefined }
>
/** The result of the call with this id, as the model receives it: a text, and files that it may accept. */
export type ToolResultPart = {
  /** The id of the call. */
  readonly id: string
  /** The name of the tool. */
  readonly tool: string
  /** What the tool returned. */
  readonly text: string
  /** Whether the call failed. */
  readonly isError: boolean
  /** Images and PDF files of the result. */
  readonly files?: readonly RequestFile[] | undefined
}

/** Everything that a model is sent. Built from records and blobs alone: the same log gives the same bytes. */
export type ModelRequest = {
  /** The model to call, as `provider/model`. */
  readonly model: ModelName
  /** How much the model should think. */
  readonly thinkingLevel: ThinkingLevel
  /** The system prompt. */
  readonly system: string
  /** The tools the model may call. */
  readonly tools: readonly ToolSchema[]
  /** The history, oldest first. */
  readonly messages: readonly RequestMessage[]
  /** Options for the service, in its own terms. */
  readonly providerOptions?: ProviderOptions | undefined
  /** Set when a summary is asked for, and not the next step of a turn. */
  readonly purpose?: 'summary' | undefined
}

/** Parts arrive in order and end with exactly one `end`. */
export type ModelPart = Readonly<
  /** A fragment of part `part`, shown live. `input` is a part of a call's arguments. */
  | { type: 'delta'; part: number; kind: 'text' | 'thinking' | 'input'; text: string; tool?: string | undefined }
  /** Part `part` is complete. */
  | { type: 'said'; part: number; said: SaidPart }
  | { type: 'end'; end: ModelEnd }
>

/** How a model call ended. */
export type ModelEnd =
  | {
      readonly type: 'complete'
      readonly finish: Extract<Finish, 'stop' | 'calls' | 'length' | 'refused'>
      /** Null when the service does not say. */
      readonly usage: Usage | null
      /** An estimate for that case, so that budgets still apply. */
      readonly estimate?: Usage | undefined
    }
  | { readonly type: 'aborted' }
  | {
      readonly type: 'failed'
      readonly fault: ModelFault
      /** What happened, without advice; the fault's message when absent. */
      readonly happened?: string | undefined
      readonly retryable: boolean
      readonly retryAfterMs: number | null
      readonly usage: Usage | null
    }

/** An adapter to a model service. It never throws for network errors: the stream always ends with an `end` part. */
export interface Provider {
  /** Calls the model and yields its answer. After `signal` aborts it ends with `aborted` at once. */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelPart>
}

/** Whether a model can be called, and why not. */
export type ModelReadiness =
  | {
      readonly type: 'ready'
      readonly provider: Provider
      /** The context size; `limits.contextTokens` when unknown. */
      readonly contextTokens?: number | undefined
      /** The media types it accepts beside text, such as `image/*`. Images and PDF files when absent. */
      readonly takes?: readonly string[] | undefined
      /** The thinking levels it knows; all when absent. */
      readonly thinkingLevels?: readonly ThinkingLevel[] | undefined
      /** False if its price is unknown: a cap in dollars cannot count it. */
      readonly isPriced?: boolean | undefined
      /** The address it is called at, for people, without secrets. */
      readonly endpoint?: string | undefined
    }
  | { readonly type: 'unknown_model'; readonly message: string }
  | { readonly type: 'no_credentials'; readonly message: string }

/** Knows which models are ready, their rotation and their fallbacks. */
export interface Models {
  /** Returns whether a model can be called, and its provider. */
  find(model: ModelName): ModelReadiness
  /** Returns the model of a session that names none. It may change once a key or a local server is found. */
  defaultModel(): ModelName
  /** Returns the configured rotation without models that are not ready. */
  rotation(): readonly RotationEntry[]
  /**
   * Returns the next ready, untried model when `model` is overloaded or unreachable; null when there is none. May look
   * for local servers, but not for long.
   */
  fallback(model: ModelName, tried: readonly ModelName[]): Promise<ModelName | null>
  /** Lists all known models, and why some are not ready. May look for local servers, but not for long. */
  list(): Promise<ModelList>
  /** Looks again for credentials and local servers. Refused when the stored credentials cannot be read. */
  refresh(): Promise<Result<void>>
  /** Calls back when the result of `find` may have changed. */
  onChanged(listener: () => void): void
}
