import type { ModelName } from '@holdfast/protocol'

/** The services a request is validated for. */
export const historyProviders = ['anthropic', 'openai-chat', 'openai-responses', 'gemini'] as const
/** The APIs whose rules the testkit knows. */
export type HistoryProvider = (typeof historyProviders)[number]

/** A model of each service, to build requests for. */
export const historyModels = {
  anthropic: 'anthropic/claude',
  'openai-chat': 'openai-chat/gpt',
  'openai-responses': 'openai/gpt',
  gemini: 'google/gemini',
} as const satisfies Record<HistoryProvider, ModelName>

export type ProviderRules = {
  /** The key of its opaque data; null if it has none. */
  readonly metaName: 'anthropic' | 'openai' | 'google' | null
  readonly callIdCharsMax: number
  /** Whether thinking must be followed by the item it belongs to. */
  readonly thinkingBinds: boolean
  /** Whether user and model must alternate, and the last message must be of a user or a tool. */
  readonly takesTurns: boolean
}

export const providerRules: Readonly<Record<HistoryProvider, ProviderRules>> = {
  anthropic: { metaName: 'anthropic', callIdCharsMax: 64, thinkingBinds: true, takesTurns: false },
  'openai-chat': { metaName: null, callIdCharsMax: 40, thinkingBinds: false, takesTurns: false },
  'openai-responses': { metaName: 'openai', callIdCharsMax: 64, thinkingBinds: true, takesTurns: false },
  gemini: { metaName: 'google', callIdCharsMax: 64, thinkingBinds: false, takesTurns: true },
}

/** All keys of opaque data. */
export const metaNames = ['anthropic', 'openai', 'google'] as const
