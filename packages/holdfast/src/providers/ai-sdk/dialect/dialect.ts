import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantPart } from '@holdfast/core/ports'
import type { ThinkingLevel } from '@holdfast/protocol'

/** What is asked of a service so that its model thinks, or does not: in the SDK's word for it, and in the service's own. */
export type Thinking = {
  readonly reasoning?: LanguageModelV4CallOptions['reasoning']
  readonly options?: SharedV4ProviderOptions
  /** How long the answer may be beside it, where that is less than the model's own limit. */
  readonly outputTokensMax?: number
}

/** The model that is asked to think. */
export type Asked = {
  readonly modelId: string
  /** How much it says at most; null when nobody knows. */
  readonly outputTokens: number | null
  /** Whether the interface has a word for thinking. The one before this has none, and only a service's own words are heard. */
  readonly hasWord: boolean
}

/** What one service is particular about, and others are not. */
export type Dialect = {
  readonly thinking: {
    /** Whether thinking may go back to it, as a part of this answer. What it wants with it, it gave as metadata. */
    readonly isTaken: (part: AssistantPart, answer: readonly AssistantPart[]) => boolean
    /** Whether an answer sent back may end in thinking. */
    readonly mayEndAnswer: boolean
    /** Whether it thinks on in a running round only if the round began with thinking. */
    readonly isFromTheStart: boolean
    /** Whether a model of which nobody knows it is taken for one that thinks. */
    readonly isThinker: (modelId: string) => boolean
    readonly ask: (level: ThinkingLevel, asked: Asked) => Thinking
  }
  readonly answers: {
    /** Whether what it gave with a part is of use to the very model only that said it. */
    readonly isPerModel: boolean
    /** Whether a text without words may go back, for what was given with it. */
    readonly takesBlankText: (part: AssistantPart) => boolean
    /** What goes with an answer as a whole, in the service's own words. */
    readonly options: (answer: readonly AssistantPart[]) => SharedV4ProviderOptions | undefined
    /** What the model is made to say where people speak right after results; null where they may. */
    readonly beforePeople: string | null
  }
  readonly files: {
    /** Media types it takes as files, and those it takes of a model of which nobody knows it. */
    readonly types: RegExp
    readonly typesUnasked: RegExp
    /** How large an image, or any file, may be; one above it would make every later request fail. */
    readonly imageBytesMax: number
    readonly bytesMax: number
    /** Whether a file of text goes as a file, or is written out in the message. */
    readonly takesText: boolean
  }
  readonly names: {
    /** Names of tools it takes. */
    readonly tools: RegExp
    /** The id of a call as it takes them. */
    readonly callId: (id: string) => string
  }
  readonly cache: {
    /** Marks the end of what is worth keeping for the next request; null where the service does so by itself. */
    readonly mark: SharedV4ProviderOptions | null
    /** What is asked so that the service sets such marks itself, for models that keep nothing without. */
    readonly options: (modelId: string) => SharedV4ProviderOptions
  }
  /** Whether a request must say how long the answer may be. */
  readonly wantsOutputLimit: boolean
  /** What we ask of it unless the program that started the session asks otherwise. */
  readonly options: SharedV4ProviderOptions
  /** What we ask of it whatever anyone asks. */
  readonly fixedOptions: SharedV4ProviderOptions
}

const metaOf = ({ meta }: AssistantPart, service: string, name: string): unknown => {
  const own = meta?.[service]
  return typeof own === 'object' && own !== null ? Object.entries(own).find(([key]) => key === name)?.[1] : undefined
}
export const hasText = (part: AssistantPart, service: string, ...names: readonly string[]): boolean =>
  names.some((name) => typeof metaOf(part, service, name) === 'string')

/** Services count what is sent, in base64: four bytes for three. */
export const megabytes = (sent: number): number => Math.floor((sent * 1024 * 1024 * 3) / 4)

export const efforts = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const satisfies Record<
  ThinkingLevel,
  LanguageModelV4CallOptions['reasoning']
>

const imagesAndPdf = /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/

/** A service we know nothing of: it gets what there is. */
export const plain: Dialect = {
  thinking: {
    isTaken: () => true,
    mayEndAnswer: true,
    isFromTheStart: false,
    isThinker: () => true,
    ask: (level) => ({ reasoning: efforts[level] }),
  },
  answers: {
    isPerModel: false,
    takesBlankText: ({ meta }) => meta !== undefined,
    options: () => undefined,
    beforePeople: null,
  },
  files: {
    types: imagesAndPdf,
    typesUnasked: imagesAndPdf,
    imageBytesMax: megabytes(20),
    bytesMax: megabytes(20),
    takesText: true,
  },
  names: { tools: /^[a-zA-Z0-9_-]{1,64}$/, callId: (id) => id },
  cache: { mark: null, options: () => ({}) },
  wantsOutputLimit: false,
  options: {},
  fixedOptions: {},
}
