import { type Endpoint, fetchHere, type LoadModel, noKey } from '../services/api.ts'

const loadOpenAi = async ({ baseUrl, key, headers }: Endpoint) => {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return createOpenAI({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch: fetchHere })
}

/** Only here can a model keep its reasoning from one step to the next. */
export const loadResponses: LoadModel = async (endpoint) => (await loadOpenAi(endpoint)).responses(endpoint.modelId)

export const loadCompletions: LoadModel = async (endpoint) => (await loadOpenAi(endpoint)).chat(endpoint.modelId)
