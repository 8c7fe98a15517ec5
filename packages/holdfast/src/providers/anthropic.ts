import type { ModelReadiness } from '@holdfast/core/ports'
import { createLazyProvider } from './lazy.ts'

export const anthropicKeyName = 'ANTHROPIC_API_KEY'

export type AnthropicAccess = { readonly key: string | undefined; readonly baseUrl: string | undefined }

/** A model of Anthropic's. Any name is taken: which ones there are, the service knows better than we do. */
export function findAnthropic(modelId: string, { key, baseUrl }: AnthropicAccess): ModelReadiness {
  const apiKey = key?.trim() ?? ''
  if (apiKey === '') {
    return {
      type: 'no_credentials',
      message: `There is no key for Anthropic. Set ${anthropicKeyName}, or choose demo/agent, which needs none.`,
    }
  }
  // Such a key cannot be sent in a header at all; better said here than by the network library.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    return {
      type: 'no_credentials',
      message: `${anthropicKeyName} holds characters that no key has. Copy it again, then continue.`,
    }
  }

  const provider = createLazyProvider(async () => {
    const [{ createAnthropic }, { createAiSdkProvider }] = await Promise.all([
      import('@ai-sdk/anthropic'),
      import('./ai-sdk/provider.ts'),
    ])
    // The address is always handed over, or the library would look into the process's environment for it.
    const model = createAnthropic({ apiKey, baseURL: versioned(baseUrl) })(modelId)
    return createAiSdkProvider(model, { providerName: 'anthropic', keyName: anthropicKeyName, keys: [apiKey] })
  })
  return { type: 'ready', provider }
}

/** People give the address with or without its version; Anthropic's own tools take it without. */
function versioned(baseUrl: string | undefined): string {
  const address = baseUrl?.trim().replace(/\/+$/, '') || 'https://api.anthropic.com'
  return address.endsWith('/v1') ? address : `${address}/v1`
}
