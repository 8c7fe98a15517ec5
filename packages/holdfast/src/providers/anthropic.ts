import type { ModelReadiness } from '@holdfast/core/ports'
import { type Access, shownAddress, usableKey, versioned } from './access.ts'
import { createLazyProvider } from './lazy.ts'

export const anthropicKeyName = 'ANTHROPIC_API_KEY'

/** A model of Anthropic's. Any name is taken: which ones there are, the service knows better than we do. */
export function findAnthropic(modelId: string, { key, baseUrl }: Access): ModelReadiness {
  const apiKey = usableKey('Anthropic', anthropicKeyName, key)
  if (typeof apiKey !== 'string') return apiKey

  const provider = createLazyProvider(async () => {
    const [{ createAnthropic }, { createAiSdkProvider }] = await Promise.all([
      import('@ai-sdk/anthropic'),
      import('./ai-sdk/provider.ts'),
    ])
    // The address is always handed over, or the library would look into the process's environment for it.
    const model = createAnthropic({ apiKey, baseURL: anthropicUrl(baseUrl) })(modelId)
    return createAiSdkProvider(model, { providerName: 'anthropic', keyName: anthropicKeyName, keys: [apiKey] })
  })
  return { type: 'ready', provider, endpoint: shownAddress(anthropicUrl(baseUrl)) }
}

/** Anthropic's own tools take the address without its version, behind a path as well. */
function anthropicUrl(baseUrl: string | undefined): string {
  const address = versioned(baseUrl, 'https://api.anthropic.com', 'v1')
  return address.endsWith('/v1') ? address : `${address}/v1`
}
