import { type LoadModel, noKey } from '../services/api.ts'
import { fetchFromService as fetch } from '../services/fetch.ts'

export const loadAnthropic: LoadModel = async ({ modelId, baseUrl, key, headers }) => {
  const { createAnthropic } = await import('@ai-sdk/anthropic')
  return createAnthropic({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch })(modelId)
}
