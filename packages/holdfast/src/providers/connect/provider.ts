import type { ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import type { ModelFacts } from '@holdfast/protocol'
import { redactAddress } from '../services/address.ts'
import type { Api, LoadModel } from '../services/api.ts'
import { findPresetName } from '../services/presets.ts'
import { loadAnthropic } from './anthropic.ts'
import { loadCompatible } from './compatible.ts'
import { type Connection, keyOf } from './connection.ts'
import { loadGoogle } from './google.ts'
import { loadOpenAiChat, loadOpenAiResponses } from './openai.ts'

const loaders: { readonly [Name in Api]: LoadModel } = {
  anthropic: loadAnthropic,
  responses: loadOpenAiResponses,
  completions: loadOpenAiChat,
  google: loadGoogle,
  chat: loadCompatible,
}

/** Creates the provider of a model. Any model id is accepted: the service knows which ones exist. */
export function createServiceProvider(modelId: string, connection: Connection, facts: ModelFacts): Provider {
  const { service, baseUrl } = connection
  const { name, title, api, headers } = service
  return createLazyProvider(async () => {
    const [model, { createAiSdkProvider }] = await Promise.all([
      loaders[api]({ service: name, modelId, baseUrl, key: keyOf(connection), headers }),
      import('../ai-sdk/provider.ts'),
    ])
    const preset = findPresetName(name, baseUrl)
    const keyName = nameKey(connection)
    return createAiSdkProvider(model, { ...facts, title, api, preset, endpoint: redactAddress(baseUrl), keyName })
  })
}

/** Returns where a person finds the key that a service rejected. */
function nameKey({ service, key }: Connection): string | undefined {
  if (key.type !== 'found') return service.keyNames.join(' or ') || undefined
  return key.from.type === 'file' ? `the stored key of ${service.title}` : key.from.name
}

/** Loads the library at the first call, so that it costs nothing at startup. A failure to load ends the call as failed. */
export function createLazyProvider(load: () => Promise<Provider>): Provider {
  return {
    stream: (request, options) =>
      openLate(() =>
        load().then(
          (provider) => provider.stream(request, options),
          (error: unknown) => failToLoad(request, error),
        ),
      ),
  }
}

/** Reads from the stream directly: a generator in between would cost time for every fragment. */
function openLate(open: () => Promise<AsyncIterable<ModelPart>>): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      let parts: AsyncIterator<ModelPart> | null = null
      const begin = async () => {
        parts = (await open())[Symbol.asyncIterator]()
        return parts.next()
      }
      return {
        next: () => parts?.next() ?? begin(),
        return: async () => (await parts?.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
}

async function* failToLoad({ model }: ModelRequest, error: unknown): AsyncGenerator<ModelPart> {
  const message = `Cannot load the library for ${model}. Check its address and the installation.`
  const fault = { kind: 'passthrough' as const, message, detail: String(error) }
  yield { type: 'end', end: { type: 'failed', fault, retryable: false, retryAfterMs: null, usage: null } }
}
