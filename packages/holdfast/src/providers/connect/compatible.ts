import { fetchHere, type LoadModel } from '../services/api.ts'

/** Any server that speaks like OpenAI's completions. It counts tokens only when it is asked to. */
export const loadCompatible: LoadModel = async ({ service, modelId, baseUrl, key, headers }) => {
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  return createOpenAICompatible({
    name: service,
    baseURL: baseUrl,
    ...(key !== null && { apiKey: key }),
    headers,
    includeUsage: true,
    fetch: fetchHere,
  })(modelId)
}
