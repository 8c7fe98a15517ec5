import type { LanguageModelV4 } from '@ai-sdk/provider'

/**
 * The API of a service. `responses` and `completions` are OpenAI's own; `chat` is the Chat Completions API as other
 * services offer it, which accepts other parameters.
 */
export type Api = 'anthropic' | 'responses' | 'completions' | 'google' | 'chat'

/** Where a model is called. It is always complete: a library reads missing values from the environment. */
export type Endpoint = {
  readonly service: string
  readonly modelId: string
  readonly baseUrl: string
  readonly key: string | null
  readonly headers: { readonly [name: string]: string }
}

/** Loads a library and creates its model, without calling it. */
export type LoadModel = (endpoint: Endpoint) => Promise<LanguageModelV4>

/** Sent when there is no key: a library without a key would use one from the environment, of another service perhaps. */
export const noKey = 'none'
