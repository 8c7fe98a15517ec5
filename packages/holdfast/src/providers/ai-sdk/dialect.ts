import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantPart } from '@holdfast/core/ports'
import type { ThinkingLevel } from '@holdfast/protocol'

/** What one service is particular about, and others are not. */
export type Dialect = {
  /** Whether thinking may go back to it at all. What it wants with it, it gave as metadata. */
  readonly takesThinking: (part: AssistantPart) => boolean
  /** Whether an answer sent back may end in thinking. */
  readonly endsInThinking: boolean
  /** Whether it thinks on in a running round only if the round began with thinking. */
  readonly thinksFromTheStart: boolean
  /** Whether what it gave with a part is of use to the very model only that said it. */
  readonly isPerModel: boolean
  /** Whether a text without words may go back, for what was given with it. */
  readonly takesBlankText: (part: AssistantPart) => boolean
  /** Media types it takes as files. */
  readonly files: RegExp
  /** How large an image, or any file, may be; one above it would make every later request fail. */
  readonly imageBytesMax: number
  readonly fileBytesMax: number
  /** Whether a file of text goes as a file, or is written out in the message. */
  readonly takesTextFiles: boolean
  /** Names of tools it takes. */
  readonly toolNames: RegExp
  /** What we ask of it unless the program that started the session asks otherwise. */
  readonly options: (thinkingLevel: ThinkingLevel) => SharedV4ProviderOptions
  /** What we ask of it whatever anyone asks. */
  readonly fixedOptions: SharedV4ProviderOptions
}

const metaOf = ({ meta }: AssistantPart, service: string, name: string): unknown => {
  const own = meta?.[service]
  return typeof own === 'object' && own !== null ? Object.entries(own).find(([key]) => key === name)?.[1] : undefined
}
const hasText = (part: AssistantPart, service: string, ...names: readonly string[]): boolean =>
  names.some((name) => typeof metaOf(part, service, name) === 'string')

/** Services count what is sent, in base64: four bytes for three. */
const megabytes = (sent: number): number => Math.floor((sent * 1024 * 1024 * 3) / 4)

/** A service we know nothing of: it gets what there is. */
const plain: Dialect = {
  takesThinking: () => true,
  endsInThinking: true,
  thinksFromTheStart: false,
  isPerModel: false,
  takesBlankText: ({ meta }) => meta !== undefined,
  files: /^(image\/(png|jpeg|gif|webp)|application\/pdf)$/,
  imageBytesMax: megabytes(20),
  fileBytesMax: megabytes(20),
  takesTextFiles: true,
  toolNames: /^[a-zA-Z0-9_-]{1,64}$/,
  options: () => ({}),
  fixedOptions: {},
}

/** Anthropic refuses thinking it cannot verify, and an answer that ends in thinking. */
const anthropic: Dialect = {
  ...plain,
  takesThinking: (part) => hasText(part, 'anthropic', 'signature', 'redactedData'),
  endsInThinking: false,
  thinksFromTheStart: true,
  takesBlankText: () => false,
  imageBytesMax: megabytes(5),
  // A model that thinks in silence still pings: that is how silence and a dead line are told apart.
  options: () => ({ anthropic: { includePings: true } }),
}

/** A completion has no thinking, and nothing that must come back. */
const openAiChat: Dialect = {
  ...plain,
  takesThinking: () => false,
  takesBlankText: () => false,
  takesTextFiles: false,
}

/** Nothing is left with the service: reasoning travels with us, encrypted, and what came out of it follows it. */
const openAiResponses = (service: 'openai' | 'azure'): Dialect => ({
  ...plain,
  takesThinking: (part) => hasText(part, service, 'itemId'),
  endsInThinking: false,
  isPerModel: true,
  takesBlankText: () => false,
  takesTextFiles: false,
  fixedOptions: { [service]: { store: false } }, // and with it the library asks for the encrypted content
})

/** A signature stands on the part it was given with: thought, words or call. */
const gemini: Dialect = {
  ...plain,
  isPerModel: true,
  takesBlankText: (part) => hasText(part, 'google', 'thoughtSignature'),
  files: /^(image\/(png|jpeg|webp)|application\/pdf)$/,
  toolNames: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/,
  options: (thinkingLevel) =>
    thinkingLevel === 'off' ? {} : { google: { thinkingConfig: { includeThoughts: true } } },
}

/** By the name a library gives its model: `anthropic.messages`, `openai.responses`, `google.generative-ai`. */
export function dialectOf({ provider }: { readonly provider: string }): Dialect {
  if (provider.startsWith('anthropic')) return anthropic
  if (provider.startsWith('google.generative-ai')) return gemini
  if (/^(openai|azure).*\.responses$/.test(provider)) {
    return openAiResponses(provider.startsWith('azure') ? 'azure' : 'openai')
  }
  return /^(openai|azure).*\.chat$/.test(provider) ? openAiChat : plain
}
