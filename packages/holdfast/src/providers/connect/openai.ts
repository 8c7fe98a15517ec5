import { type Endpoint, type LoadModel, noKey } from '../services/api.ts'
import { fetchFromService as fetch } from '../services/fetch.ts'

const loadOpenAi = async ({ baseUrl, key, headers }: Endpoint) => {
  const { createOpenAI } = await import('@ai-sdk/openai')
  return createOpenAI({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch })
}

/** The Responses API. Only here a model keeps its reasoning from one step to the next. */
export const loadOpenAiResponses: LoadModel = async (endpoint) =>
  (await loadOpenAi(endpoint)).responses(endpoint.modelId)

/** The Chat Completions API. */
export const loadOpenAiChat: LoadModel = async (endpoint) => (await loadOpenAi(endpoint)).chat(endpoint.modelId)
