import { setTimeout as delay } from 'node:timers/promises'
import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelReadiness, Models } from '@holdfast/core/ports'
import { didYouMean, type ModelName, providerOf } from '@holdfast/protocol'
import type { Environment } from '../platform/environment.ts'
import { anthropicKeyName, findAnthropic } from './anthropic.ts'
import { createDemoProvider } from './demo/provider.ts'
import { createLazyProvider } from './lazy.ts'

export type ModelsParts = {
  /** Read anew at each look: a key added later is found. */
  readonly environment: Environment
  /** Models an embedding program brings, by the name people will use: any AI SDK model object. */
  readonly extra?: { readonly [name: ModelName]: LanguageModelV3 | LanguageModelV4 } | undefined
}

const demoModel: ModelName = 'demo/agent'
const anthropicModel: ModelName = 'anthropic/claude-sonnet-5-5'

/** The model a session gets when nobody names one: a real one if there is a key for it. */
export const defaultModel = (environment: Environment): ModelName =>
  environment[anthropicKeyName]?.trim() ? anthropicModel : demoModel

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
    if (providerName === 'anthropic') {
      const access = { key: environment[anthropicKeyName], baseUrl: environment['ANTHROPIC_BASE_URL'] }
      return findAnthropic(model.slice(providerName.length + 1), access)
    }
    return { type: 'unknown_model', message: unknown(model) }
  }

  function unknown(model: ModelName): string {
    const known = [demoModel, anthropicModel, ...brought.keys()]
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
