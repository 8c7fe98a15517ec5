import type { ModelName } from '@holdfast/protocol'
import type { HistoryProvider } from '@holdfast/testkit'

/** A service, a thinking model of it, and a model of another service to switch to. */
export type ServiceCase = { readonly service: HistoryProvider; readonly model: ModelName; readonly other: ModelName }

export const cases: readonly ServiceCase[] = [
  { service: 'anthropic', model: 'anthropic/claude-sonnet-4-5', other: 'google/gemini-3-pro-preview' },
  { service: 'openai-responses', model: 'openai/gpt-5', other: 'anthropic/claude-sonnet-4-5' },
  { service: 'openai-chat', model: 'openai-chat/gpt-5', other: 'google/gemini-3-pro-preview' },
  { service: 'gemini', model: 'google/gemini-3-pro-preview', other: 'openai/gpt-5' },
]

/** The environment if all services answer at one address. */
export const environmentAt = (url: string): { readonly [name: string]: string } => ({
  ANTHROPIC_API_KEY: 'key-a',
  ANTHROPIC_BASE_URL: url,
  OPENAI_API_KEY: 'key-o',
  OPENAI_BASE_URL: url,
  GEMINI_API_KEY: 'key-g',
  GEMINI_BASE_URL: url,
})
