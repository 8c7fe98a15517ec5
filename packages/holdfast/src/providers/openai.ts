import type { ModelReadiness } from '@holdfast/core/ports'
import { type Access, shownAddress, usableKey, versioned } from './access.ts'
import { createLazyProvider } from './lazy.ts'

export const openAiKeyName = 'OPENAI_API_KEY'

/** Which of OpenAI's two APIs is spoken. Many services speak like `chat`; only Responses lets a model keep its reasoning. */
export type OpenAiApi = 'responses' | 'chat'

/** A model of OpenAI's, or of a service that speaks like it. Any name is taken, as of Anthropic's. */
export function findOpenAi(modelId: string, api: OpenAiApi, { key, baseUrl }: Access): ModelReadiness {
  const apiKey = usableKey('OpenAI', openAiKeyName, key)
  if (typeof apiKey !== 'string') return apiKey

  const baseURL = versioned(baseUrl, 'https://api.openai.com', 'v1')
  const provider = createLazyProvider(async () => {
    const [{ createOpenAI }, { createAiSdkProvider }] = await Promise.all([
      import('@ai-sdk/openai'),
      import('./ai-sdk/provider.ts'),
    ])
    // The address is always handed over, or the library would look into the process's environment for it.
    const openAi = createOpenAI({ apiKey, baseURL })
    const model = api === 'chat' ? openAi.chat(modelId) : openAi.responses(modelId)
    return createAiSdkProvider(model, { providerName: 'openai', keyName: openAiKeyName, keys: [apiKey] })
  })
  return { type: 'ready', provider, endpoint: shownAddress(baseURL) }
}
