import { type LoadModel, noKey } from '../services/api.ts'
import { fetchFromService as fetch } from '../services/fetch.ts'

export const loadGoogle: LoadModel = async ({ modelId, baseUrl, key, headers }) => {
  const { createGoogle } = await import('@ai-sdk/google')
  return createGoogle({ apiKey: key ?? noKey, baseURL: baseUrl, headers, fetch })(modelId)
}
