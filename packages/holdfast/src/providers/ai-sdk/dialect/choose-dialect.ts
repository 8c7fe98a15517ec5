import type { Api } from '../../services/presets.ts'
import { anthropicDialect } from './anthropic.ts'
import { compatibleDialect } from './compatible.ts'
import { type Dialect, plainDialect } from './dialect.ts'
import { googleDialect } from './google.ts'
import { openAiChatDialect, openAiResponsesDialect } from './openai.ts'

type Model = { readonly provider: string }

/** Chooses by the API of a service and its preset, if it is one. */
export function chooseDialect(model: Model, api: Api, preset: string | null): Dialect {
  switch (api) {
    case 'anthropic':
      return anthropicDialect
    case 'google':
      return googleDialect
    case 'responses':
      return openAiResponsesDialect('openai')
    case 'completions':
      return openAiChatDialect
    case 'chat':
      return compatibleDialect(preset, nameIn(model))
  }
}

/**
 * Guesses the dialect of a custom model by its library's name: `anthropic.messages`, `openai.responses`,
 * `google.generative-ai`, `ollama.chat`.
 */
export function guessDialect(model: Model): Dialect {
  const { provider } = model
  if (provider.startsWith('anthropic')) return anthropicDialect
  if (provider.startsWith('google.generative-ai')) return googleDialect
  if (/^(openai|azure).*\.responses$/.test(provider)) {
    return openAiResponsesDialect(provider.startsWith('azure') ? 'azure' : 'openai')
  }
  if (/^(openai|azure)(?!-compatible).*\.chat$/.test(provider)) return openAiChatDialect
  return provider.endsWith('.chat') ? compatibleDialect(nameIn(model), nameIn(model)) : plainDialect
}

const nameIn = ({ provider }: Model): string => provider.split('.', 1)[0] ?? ''
