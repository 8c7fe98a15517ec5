import type { ModelName } from '@holdfast/protocol'

/** The services a request must be fit for, and what is particular to each as far as history goes. */
export const historyProviders = ['anthropic', 'openai-chat', 'openai-responses', 'gemini'] as const
export type HistoryProvider = (typeof historyProviders)[number]

/** A model of each, to build a request for. */
export const historyModels = {
  anthropic: 'anthropic/claude',
  'openai-chat': 'openai-chat/gpt',
  'openai-responses': 'openai/gpt',
  gemini: 'google/gemini',
} as const satisfies Record<HistoryProvider, ModelName>

export type ProviderRules = {
  /** The name its opaque data stands under; null where it has none. */
  readonly metaName: 'anthropic' | 'openai' | 'google' | null
  readonly callIdCharsMax: number
  /** Whether thinking must be followed by what came out of it. */
  readonly thinkingBinds: boolean
  /** Whether people and the model must take turns, and a person or a tool must have the last word. */
  readonly takesTurns: boolean
}

export const providerRules: Readonly<Record<HistoryProvider, ProviderRules>> = {
  anthropic: { metaName: 'anthropic', callIdCharsMax: 64, thinkingBinds: true, takesTurns: false },
  'openai-chat': { metaName: null, callIdCharsMax: 40, thinkingBinds: false, takesTurns: false },
  'openai-responses': { metaName: 'openai', callIdCharsMax: 64, thinkingBinds: true, takesTurns: false },
  gemini: { metaName: 'google', callIdCharsMax: 64, thinkingBinds: false, takesTurns: true },
}

/** Every name opaque data of a service may stand under. */
export const metaNames = ['anthropic', 'openai', 'google'] as const
