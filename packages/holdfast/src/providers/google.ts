import type { ModelReadiness } from '@holdfast/core/ports'
import { type Access, shownAddress, usableKey, versioned } from './access.ts'
import { createLazyProvider } from './lazy.ts'

/** The names a key for Gemini goes by; the first that holds one counts. */
export const googleKeyNames = ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'] as const

/** A model of Google's. Any name is taken, as of Anthropic's. */
export function findGoogle(modelId: string, { key, baseUrl }: Access): ModelReadiness {
  const keyName = googleKeyNames.join(' or ')
  const apiKey = usableKey('Google', keyName, key)
  if (typeof apiKey !== 'string') return apiKey

  const baseURL = versioned(baseUrl, 'https://generativelanguage.googleapis.com', 'v1beta')
  const provider = createLazyProvider(async () => {
    const [{ createGoogle }, { createAiSdkProvider }] = await Promise.all([
      import('@ai-sdk/google'),
      import('./ai-sdk/provider.ts'),
    ])
    const model = createGoogle({ apiKey, baseURL })(modelId)
    return createAiSdkProvider(model, { providerName: 'google', keyName, keys: [apiKey] })
  })
  return { type: 'ready', provider, endpoint: shownAddress(baseURL) }
}
