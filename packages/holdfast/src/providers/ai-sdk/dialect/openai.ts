import { type Dialect, hasText, plain } from './dialect.ts'

/** The families that think, by name: `o3`, `gpt-5`, `gpt-6.1-sol`; not `gpt-4.1`, and not those made for chat. */
const isThinker = (modelId: string): boolean => /^(o\d|gpt-([5-9]|\d\d))(?!.*-chat)/.test(modelId)

/** A completion has no thinking, and nothing that must come back. It refuses an effort of a model that knows none. */
export const openAiChat: Dialect = {
  ...plain,
  thinking: { ...plain.thinking, isTaken: () => false, isThinker },
  answers: { ...plain.answers, takesBlankText: () => false },
  files: { ...plain.files, takesText: false },
}

/** Nothing is left with the service: reasoning travels with us, encrypted, and what came out of it follows it. */
export const openAiResponses = (service: 'openai' | 'azure'): Dialect => ({
  ...openAiChat,
  thinking: {
    ...openAiChat.thinking,
    isTaken: (part) => hasText(part, service, 'itemId'),
    mayEndAnswer: false,
  },
  answers: { ...openAiChat.answers, isPerModel: true },
  fixedOptions: { [service]: { store: false } }, // and with it the library asks for the encrypted content
})
