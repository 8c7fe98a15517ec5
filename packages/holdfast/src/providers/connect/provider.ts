import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import type { ModelFacts } from '@holdfast/protocol'
import { redactAddress } from '../services/address.ts'
import { fetchFromService as fetch } from '../services/fetch.ts'
import { type Api, findPresetName } from '../services/presets.ts'
import { type Connection, keyOf } from './connection.ts'

/** Where a model is called. It is always complete: a library reads missing values from the environment. */
type Endpoint = {
  readonly service: string
  readonly modelId: string
  readonly baseUrl: string
  readonly key: string | null
  readonly headers: { readonly [name: string]: string }
}

/** Sent when there is no key: a library without a key would use one from the environment, of another service perhaps. */
const noKey = 'none'

const loadOpenAi = async ({ baseUrl, key, headers }: Endpoint) => {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return createOpenAI({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch })
}

/** For each API: loads its library and creates a model, without calling it. */
const loaders: { readonly [Name in Api]: (endpoint: Endpoint) => Promise<LanguageModelV4> } = {
  async anthropic({ modelId, baseUrl, key, headers }) {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch })(modelId)
  },
  // Only here a model keeps its reasoning from one step to the next.
  responses: async (endpoint) => (await loadOpenAi(endpoint)).responses(endpoint.modelId),
  completions: async (endpoint) => (await loadOpenAi(endpoint)).chat(endpoint.modelId),
  async google({ modelId, baseUrl, key, headers }) {
    const { createGoogle } = await import('@ai-sdk/google')
    return createGoogle({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch })(modelId)
  },
  async chat({ service: name, modelId, baseUrl, key, headers }) {
    const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
    const apiKey = key === null ? {} : { apiKey: key }
    // `includeUsage`: such a server counts tokens only if asked.
    return createOpenAICompatible({ name, baseURL: baseUrl, ...apiKey, headers, includeUsage: true, fetch })(modelId)
  },
}

/** Creates the provider of a model. Any model id is accepted: the service knows which ones exist. */
export function createServiceProvider(modelId: string, connection: Connection, facts: ModelFacts): Provider {
  const { baseUrl } = connection
  const { name, title, api, headers } = connection.service
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
    // Reads from the stream directly: a generator in between would cost time for every fragment.
    stream: (request, options) => ({
      [Symbol.asyncIterator]() {
        let parts: AsyncIterator<ModelPart> | null = null
        const begin = async () => {
          const opened = await load().then(
            (provider) => provider.stream(request, options),
            (error: unknown) => failToLoad(request, error),
          )
          parts = opened[Symbol.asyncIterator]()
          return parts.next()
        }
        return {
          next: () => parts?.next() ?? begin(),
          return: async () => (await parts?.return?.()) ?? { done: true, value: undefined },
        }
      },
    }),
  }
}

async function* failToLoad({ model }: ModelRequest, error: unknown): AsyncGenerator<ModelPart> {
  const message = `Cannot load the library for ${model}. Check its address and the installation.`
  const fault = { kind: 'passthrough' as const, message, detail: String(error) }
  yield { type: 'end', end: { type: 'failed', fault, retryable: false, retryAfterMs: null, usage: null } }
}
