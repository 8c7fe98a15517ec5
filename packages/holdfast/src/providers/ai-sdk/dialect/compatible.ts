import { createHash } from 'node:crypto'
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantPart } from '@holdfast/core/ports'
import { type Dialect, efforts, plainDialect as plain } from './dialect.ts'

/**
 * A server with OpenAI's Chat Completions API. Its reasoning is shown and not sent back. A model is asked to think, and
 * gets files, only if it is known to support that.
 */
const compatible: Dialect = {
  ...plain,
  thinking: { ...plain.thinking, isAccepted: () => false, isThinker: () => false },
  answers: { ...plain.answers, acceptsBlankText: () => false },
  files: { ...plain.files, typesIfUnknown: /^image\/(png|jpeg|gif|webp)$/, acceptsText: false },
}

const hasCalls = (answer: readonly AssistantPart[]): boolean => answer.some(({ type }) => type === 'call')
const hasThinking = (answer: readonly AssistantPart[]): boolean =>
  answer.some(({ type, ...part }) => type === 'thinking' && 'text' in part && part.text !== '')

/** DeepSeek thinks by default. It requires the reasoning of answers with calls, even if empty, and no other. */
const deepseek = (name: string): Dialect => ({
  ...compatible,
  thinking: {
    ...compatible.thinking,
    isAccepted: (_part, answer) => hasCalls(answer),
    request: (level) => ({
      ...(level !== 'off' && { reasoning: efforts[level] }),
      options: { [name]: { thinking: { type: level === 'off' ? 'disabled' : 'enabled' } } },
    }),
  },
  answers: {
    ...compatible.answers,
    options: (answer) =>
      hasCalls(answer) && !hasThinking(answer) ? { openaiCompatible: { reasoning_content: '' } } : undefined,
  },
})

/** OpenRouter has one option for the thinking of all models, and sets cache marks on request. */
const openrouter = (name: string): Dialect => ({
  ...compatible,
  thinking: {
    ...compatible.thinking,
    request: (level) => ({ options: { [name]: { reasoning: { effort: efforts[level] } } } }),
  },
  cache: {
    ...compatible.cache,
    options: (modelId): SharedV4ProviderOptions =>
      modelId.startsWith('anthropic/') ? { [name]: { cache_control: { type: 'ephemeral' } } } : {},
  },
})

/** Mistral requires call ids of nine letters and digits, and an answer between tool results and a user message. */
const mistral: Dialect = {
  ...compatible,
  answers: { ...compatible.answers, beforeUser: 'Noted.' },
  names: {
    ...compatible.names,
    callId: (id) => {
      const [, number] = /^c(\d{1,8})$/.exec(id) ?? []
      return number === undefined
        ? createHash('sha256').update(id).digest('hex').slice(0, 9)
        : `c${number.padStart(8, '0')}`
    },
  },
}

/** Returns the dialect for a preset. `name` is the key under which the library looks for options. */
export function compatibleDialect(preset: string | null, name: string): Dialect {
  switch (preset) {
    case 'deepseek':
      return deepseek(name)
    case 'openrouter':
      return openrouter(name)
    case 'mistral':
      return mistral
    default:
      return compatible
  }
}
