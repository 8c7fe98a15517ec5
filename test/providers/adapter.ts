import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogle } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { Clock, Provider } from '@holdfast/core/ports'
import { type ModelName, modelIdOf, providerOf } from '@holdfast/protocol'
import { createAiSdkProvider } from '../../packages/holdfast/src/providers/ai-sdk/provider.ts'
import { serviceOf } from './scripted-session.ts'

/** Creates the real adapter and library of a model's service, with an address and a clock. */
export function createAdapter(url: string, model: ModelName, clock: Clock): Provider {
  const apiKey = 'key'
  const id = modelIdOf(model)
  const asked = () => {
    switch (serviceOf(model)) {
      case 'anthropic':
        return createAnthropic({ apiKey, baseURL: `${url}/v1` })(id)
      case 'openai-chat':
        return createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat(id)
      case 'openai-responses':
        return createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses(id)
      case 'gemini':
        return createGoogle({ apiKey, baseURL: `${url}/v1beta` })(id)
    }
  }
  return createAiSdkProvider(asked(), { title: providerOf(model), clock })
}
