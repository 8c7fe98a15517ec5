import { setTimeout as delay } from 'node:timers/promises'
import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelReadiness, Models } from '@holdfast/core/ports'
import { didYouMean, type ModelName, providerOf } from '@holdfast/protocol'
import type { Environment } from '../platform/environment.ts'
import { anthropicKeyName, findAnthropic } from './anthropic.ts'
import { createDemoProvider } from './demo/provider.ts'
import { findGoogle, googleKeyNames } from './google.ts'
import { createLazyProvider } from './lazy.ts'
import { findOpenAi, openAiKeyName } from './openai.ts'

export type ModelsParts = {
  /** Read anew at each look: a key added later is found. */
  readonly environment: Environment
  /** Models an embedding program brings, by the name people will use: any AI SDK model object. */
  readonly extra?: { readonly [name: ModelName]: LanguageModelV3 | LanguageModelV4 } | undefined
}

/** A service whose models are called by its name, and the one of them we would take. */
type Service = {
  readonly keyNames: readonly string[]
  readonly model: ModelName
  find(modelId: string, environment: Environment): ModelReadiness
}

const demoModel: ModelName = 'demo/agent'

const openAiAccess = (environment: Environment) => ({
  key: environment[openAiKeyName],
  baseUrl: environment['OPENAI_BASE_URL'],
})

/** In the order in which a default is looked for. */
const services: ReadonlyMap<string, Service> = new Map<string, Service>([
  [
    'anthropic',
    {
      keyNames: [anthropicKeyName],
      model: 'anthropic/claude-sonnet-5-5',
      find: (modelId, environment) =>
        findAnthropic(modelId, { key: environment[anthropicKeyName], baseUrl: environment['ANTHROPIC_BASE_URL'] }),
    },
  ],
  [
    'openai',
    {
      keyNames: [openAiKeyName],
      model: 'openai/gpt-6.1-sol',
      find: (modelId, environment) => findOpenAi(modelId, 'responses', openAiAccess(environment)),
    },
  ],
  [
    'openai-chat',
    {
      keyNames: [openAiKeyName],
      model: 'openai-chat/gpt-6.1-sol',
      find: (modelId, environment) => findOpenAi(modelId, 'chat', openAiAccess(environment)),
    },
  ],
  [
    'google',
    {
      keyNames: googleKeyNames,
      model: 'google/gemini-3.8-flash',
      find: (modelId, environment) =>
        findGoogle(modelId, {
          key: firstOf(environment, googleKeyNames),
          baseUrl: firstOf(environment, ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GEMINI_BASE_URL']),
        }),
    },
  ],
])

const firstOf = (environment: Environment, names: readonly string[]): string | undefined =>
  names.map((name) => environment[name]).find((value) => value?.trim())

/** The model a session gets when nobody names one: a real one if there is a key for it. */
export const defaultModel = (environment: Environment): ModelName =>
  [...services.values()].find(({ keyNames }) => firstOf(environment, keyNames))?.model ?? demoModel

export function createModels({ environment, extra = {} }: ModelsParts): Models {
  const brought = new Map(Object.entries(extra))

  function find(model: ModelName): ModelReadiness {
    const own = brought.get(model)
    const providerName = providerOf(model)
    if (own !== undefined) {
      const load = async () => (await import('./ai-sdk/provider.ts')).createAiSdkProvider(own, { providerName })
      return { type: 'ready', provider: createLazyProvider(load) }
    }
    if (model === demoModel) return { type: 'ready', provider: createDemoProvider(demoOptions(environment)) }
    const service = services.get(providerName)
    if (service !== undefined) return service.find(model.slice(providerName.length + 1), environment)
    return { type: 'unknown_model', message: unknown(model) }
  }

  function unknown(model: ModelName): string {
    const known = [demoModel, ...[...services.values()].map((service) => service.model), ...brought.keys()]
    return `There is no model ${model}.${didYouMean(model, known)} There are: ${known.join(', ')}.`
  }

  return { find }
}

function demoOptions(environment: Environment) {
  const asked = Number(environment['DEMO_PACE']?.trim() || '1')
  return {
    pace: Number.isFinite(asked) && asked >= 0 ? asked : 1,
    sleep: async (delayMs: number, options: { readonly signal: AbortSignal }) => {
      await delay(delayMs, undefined, options)
    },
  }
}
