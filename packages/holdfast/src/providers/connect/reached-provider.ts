import type { Provider } from '@holdfast/core/ports'
import type { ModelFacts } from '@holdfast/protocol'
import { shownAddress } from '../services/address.ts'
import type { Api, LoadModel } from '../services/api.ts'
import { presetOf } from '../services/preset-of.ts'
import { loadAnthropic } from './anthropic.ts'
import { loadCompatible } from './compatible.ts'
import { loadGoogle } from './google.ts'
import { createLazyProvider } from './lazy.ts'
import { loadCompletions, loadResponses } from './openai.ts'
import { type Reach, sentKey } from './reach.ts'

const loadModel: { readonly [Name in Api]: LoadModel } = {
  anthropic: loadAnthropic,
  responses: loadResponses,
  completions: loadCompletions,
  google: loadGoogle,
  chat: loadCompatible,
}

/** A model of a service that can be reached. Any name is taken: which ones there are, the service knows better than we do. */
export function createReachedProvider(modelId: string, reach: Reach, facts: ModelFacts): Provider {
  const { service, baseUrl } = reach
  const key = sentKey(reach)
  return createLazyProvider(async () => {
    const [model, { createAiSdkProvider }] = await Promise.all([
      loadModel[service.api]({ service: service.name, modelId, baseUrl, key, headers: service.headers }),
      import('../ai-sdk/provider.ts'),
    ])
    return createAiSdkProvider(model, {
      ...facts,
      title: service.title,
      api: service.api,
      preset: presetOf(service.name, baseUrl),
      endpoint: shownAddress(baseUrl),
      keyName: keyNameOf(reach),
    })
  })
}

/** Where a person looks when the key is refused. */
function keyNameOf({ service, key }: Reach): string | undefined {
  if (key.type !== 'held') return service.keyNames.join(' or ') || undefined
  return key.from.type === 'file' ? `the stored key of ${service.title}` : key.from.name
}
