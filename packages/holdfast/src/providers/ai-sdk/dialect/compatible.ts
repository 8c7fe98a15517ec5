import { createHash } from 'node:crypto'
import type { SharedV4ProviderOptions } from '@ai-sdk/provider'
import type { AssistantPart } from '@holdfast/core/ports'
import { type Dialect, efforts, plain } from './dialect.ts'

/**
 * A server that speaks like OpenAI's chat. What it says of its reasoning is heard and not sent back, and nothing is asked
 * that it might not know: a model thinks by request only if it is known to, and gets files only if it is known to take them.
 */
const compatible: Dialect = {
  ...plain,
  thinking: { ...plain.thinking, isTaken: () => false, isThinker: () => false },
  answers: { ...plain.answers, takesBlankText: () => false },
  files: { ...plain.files, typesUnasked: /^image\/(png|jpeg|gif|webp)$/, takesText: false },
}

const hasCalls = (answer: readonly AssistantPart[]): boolean => answer.some(({ type }) => type === 'call')
const thinks = (answer: readonly AssistantPart[]): boolean =>
  answer.some(({ type, ...part }) => type === 'thinking' && 'text' in part && part.text !== '')

/** DeepSeek thinks unless told not to. It wants the reasoning of an answer with calls back, be it empty, and no other. */
const deepseek = (name: string): Dialect => ({
  ...compatible,
  thinking: {
    ...compatible.thinking,
    isTaken: (_part, answer) => hasCalls(answer),
    ask: (level) => ({
      ...(level !== 'off' && { reasoning: efforts[level] }),
      options: { [name]: { thinking: { type: level === 'off' ? 'disabled' : 'enabled' } } },
    }),
  },
  answers: {
    ...compatible.answers,
    options: (answer) =>
      hasCalls(answer) && !thinks(answer) ? { openaiCompatible: { reasoning_content: '' } } : undefined,
  },
})

/** OpenRouter has one word for the thinking of all models behind it, and marks for those that need marks if it is asked to. */
const openrouter = (name: string): Dialect => ({
  ...compatible,
  thinking: {
    ...compatible.thinking,
    ask: (level) => ({ options: { [name]: { reasoning: { effort: efforts[level] } } } }),
  },
  cache: {
    ...compatible.cache,
    options: (modelId): SharedV4ProviderOptions =>
      modelId.startsWith('anthropic/') ? { [name]: { cache_control: { type: 'ephemeral' } } } : {},
  },
})

/** Mistral takes ids of nine letters and digits only, and lets nobody speak between results and the model. */
const mistral: Dialect = {
  ...compatible,
  answers: { ...compatible.answers, beforePeople: 'Noted.' },
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

/** The dialect of a service we know by its preset; `name` is the library's for it, under which it looks for options. */
export function compatibleWith(preset: string | null, name: string): Dialect {
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
