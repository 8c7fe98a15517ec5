import type { Api } from '../../services/api.ts'
import { anthropic } from './anthropic.ts'
import { compatibleWith } from './compatible.ts'
import { type Dialect, plain } from './dialect.ts'
import { gemini } from './gemini.ts'
import { openAiChat, openAiResponses } from './openai.ts'

type Model = { readonly provider: string }

/** By the API of a service, and the preset that it is; null where it is none. */
export function dialectOf(model: Model, api: Api, preset: string | null): Dialect {
  switch (api) {
    case 'anthropic':
      return anthropic
    case 'google':
      return gemini
    case 'responses':
      return openAiResponses('openai')
    case 'completions':
      return openAiChat
    case 'chat':
      return compatibleWith(preset, nameIn(model))
  }
}

/**
 * Of a model that a program brought nothing is known but the name its library gives it: `anthropic.messages`,
 * `openai.responses`, `google.generative-ai`, `ollama.chat`.
 */
export function guessDialect(model: Model): Dialect {
  const { provider } = model
  if (provider.startsWith('anthropic')) return anthropic
  if (provider.startsWith('google.generative-ai')) return gemini
  if (/^(openai|azure).*\.responses$/.test(provider)) {
    return openAiResponses(provider.startsWith('azure') ? 'azure' : 'openai')
  }
  if (/^(openai|azure)(?!-compatible).*\.chat$/.test(provider)) return openAiChat
  return provider.endsWith('.chat') ? compatibleWith(nameIn(model), nameIn(model)) : plain
}

const nameIn = ({ provider }: Model): string => provider.split('.', 1)[0] ?? ''
