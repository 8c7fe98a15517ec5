import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantPart } from '@holdfast/core/ports'
import type { ThinkingLevel } from '@holdfast/protocol'

/** The parameters for thinking: the SDK's own, and those of the service. */
export type Thinking = {
  readonly reasoning?: LanguageModelV4CallOptions['reasoning']
  readonly options?: SharedV4ProviderOptions
  /** The rest for the answer, if thinking uses a part of the model's limit. */
  readonly outputTokensMax?: number
}

/** The model that shall think. */
export type ThinkingRequest = {
  readonly modelId: string
  /** The maximum of output tokens; null if unknown. */
  readonly outputTokens: number | null
  /** Whether the SDK's interface has `reasoning`. The previous one has only the service's own options. */
  readonly hasReasoning: boolean
}

/** How one service differs from others. */
export type Dialect = {
  readonly thinking: {
    /** Whether a thinking part of this answer may be sent back. */
    readonly isAccepted: (part: AssistantPart, answer: readonly AssistantPart[]) => boolean
    /** Whether an answer sent back may end in thinking. */
    readonly mayEndAnswer: boolean
    /** Whether a round can think only if it began with thinking. */
    readonly mustBeginRound: boolean
    /** Whether a model without known levels is assumed to think. */
    readonly isThinker: (modelId: string) => boolean
    readonly request: (level: ThinkingLevel, request: ThinkingRequest) => Thinking
  }
  readonly answers: {
    /** Whether the metadata of a part is valid only for the model that wrote it. */
    readonly isPerModel: boolean
    /** Whether an empty text may be sent back, for its metadata. */
    readonly acceptsBlankText: (part: AssistantPart) => boolean
    /** Options of the service for a whole answer. */
    readonly options: (answer: readonly AssistantPart[]) => SharedV4ProviderOptions | undefined
    /** The model's text between tool results and a user message; null if none is needed. */
    readonly beforeUser: string | null
  }
  readonly files: {
    /** Media types that it accepts as files, and those to send to a model without known types. */
    readonly types: RegExp
    readonly typesIfUnknown: RegExp
    /** Size limits: a larger file would make every later request fail. */
    readonly imageBytesMax: number
    readonly bytesMax: number
    /** Whether a text file is sent as a file, or as text in the message. */
    readonly acceptsText: boolean
    /** Whether a tool result may hold files. Otherwise they follow it in a user message. */
    readonly inResults: boolean
  }
  readonly names: {
    /** Valid tool names. */
    readonly tools: RegExp
    /** Converts the id of a call. */
    readonly callId: (id: string) => string
  }
  readonly cache: {
    /** Marks the end of a part to cache; null if the service caches by itself. */
    readonly mark: SharedV4ProviderOptions | null
    /** Options that make the service set such marks itself. */
    readonly options: (modelId: string) => SharedV4ProviderOptions
  }
  /** Whether a request must limit the length of the answer. */
  readonly needsOutputLimit: boolean
  /** Default options, which the session's program can override. */
  readonly options: SharedV4ProviderOptions
  /** Options that users and sessions cannot override. */
  readonly fixedOptions: SharedV4ProviderOptions
}

/** Returns whether a service attached a text under one of the names. */
export function hasMetaText({ meta }: AssistantPart, service: string, ...names: readonly string[]): boolean {
  const own = Object.entries(meta?.[service] ?? {})
  return own.some(([name, value]) => names.includes(name) && typeof value === 'string')
}

/** Converts a limit in base64, which needs four bytes for three. */
export const megabytes = (sent: number): number => Math.floor((sent * 1024 * 1024 * 3) / 4)

export const efforts = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const satisfies Record<
  ThinkingLevel,
  LanguageModelV4CallOptions['reasoning']
>

const imagesAndPdf = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/

/** An unknown service: everything is sent. */
export const plainDialect: Dialect = {
  thinking: {
    isAccepted: () => true,
    mayEndAnswer: true,
    mustBeginRound: false,
    isThinker: () => true,
    request: (level) => ({ reasoning: efforts[level] }),
  },
  answers: {
    isPerModel: false,
    acceptsBlankText: ({ meta }) => meta !== undefined,
    options: () => undefined,
    beforeUser: null,
  },
  files: {
    types: imagesAndPdf,
    typesIfUnknown: imagesAndPdf,
    imageBytesMax: megabytes(20),
    bytesMax: megabytes(20),
    acceptsText: true,
    inResults: false,
  },
  names: { tools: /^[a-zA-Z0-9_-]{1,64}$/, callId: (id) => id },
  cache: { mark: null, options: () => ({}) },
  needsOutputLimit: false,
  options: {},
  fixedOptions: {},
}
