import { type Dialect, hasMetaText, plainDialect as plain } from './dialect.ts'

/** Matches thinking models: `o3`, `gpt-5`, `gpt-6.1-sol`; not `gpt-4.1`, and not the chat variants. */
const isThinker = (modelId: string): boolean => /^(o\d|gpt-([5-9]|\d\d))(?!.*-chat)/.test(modelId)

/** Chat Completions return no thinking, and refuse an effort for models without it. */
export const openAiChatDialect: Dialect = {
  ...plain,
  thinking: { ...plain.thinking, isAccepted: () => false, isThinker },
  answers: { ...plain.answers, acceptsBlankText: () => false },
  files: { ...plain.files, acceptsText: false },
}

/** The service stores nothing: encrypted reasoning is sent back with each request. */
export const openAiResponsesDialect = (service: 'openai' | 'azure'): Dialect => ({
  ...openAiChatDialect,
  thinking: {
    ...openAiChatDialect.thinking,
    isAccepted: (part) => hasMetaText(part, service, 'itemId'),
    mayEndAnswer: false,
  },
  answers: { ...openAiChatDialect.answers, isPerModel: true },
  files: { ...openAiChatDialect.files, inResults: true },
  fixedOptions: { [service]: { store: false } }, // the library then requests the encrypted content
})
