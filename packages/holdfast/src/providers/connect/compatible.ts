import type { LoadModel } from '../services/api.ts'
import { fetchFromService as fetch } from '../services/fetch.ts'

/** Any server with OpenAI's Chat Completions API. `includeUsage`: it counts tokens only if asked. */
export const loadCompatible: LoadModel = async ({ service: name, modelId, baseUrl, key, headers }) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const apiKey = key === null ? {} : { apiKey: key }
  return createOpenAICompatible({ name, baseURL: baseUrl, ...apiKey, headers, includeUsage: true, fetch })(modelId)
}
