import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelReadiness } from '@holdfast/core/ports'
import { didYouMean, type ModelFacts, type ModelName, modelIdOf, providerOf } from '@holdfast/protocol'
import type { Environment } from '../system/environment.ts'
import { createLazyProvider } from './connect/lazy.ts'
import { lackOf, type Reach } from './connect/reach.ts'
import { createReachedProvider } from './connect/reached-provider.ts'
import { demoModel, findDemo } from './demo-model.ts'
import { shownAddress } from './services/address.ts'
import type { KnownServices } from './services/known.ts'

/** Models an embedding program brings, by the name people will use: any AI SDK model object. */
export type BroughtModels = { readonly [name: ModelName]: LanguageModelV3 | LanguageModelV4 }

export type Findable = {
  readonly environment: Environment
  readonly brought: ReadonlyMap<ModelName, BroughtModels[ModelName]>
  readonly services: KnownServices
  readonly reach: (model: ModelName) => Reach | null
  readonly facts: ModelFacts
}

/** How a model is called, or why it cannot be. Nothing is asked for it, and no library loaded. */
export function findModel(model: ModelName, among: Findable): ModelReadiness {
  const { brought, environment, services, reach, facts } = among
  const own = brought.get(model)
  if (own !== undefined) {
    const options = { ...facts, title: providerOf(model) }
    const load = async () => (await import('./ai-sdk/provider.ts')).createAiSdkProvider(own, options)
    return { type: 'ready', provider: createLazyProvider(load), ...readinessOf(facts) }
  }
  if (model === demoModel) return { ...findDemo(environment), ...readinessOf(facts) }
  const found = reach(model)
  if (found === null) return { type: 'unknown_model', message: unknownModel(model, services, [...brought.keys()]) }
  const lack = lackOf(found)
  if (lack !== null) return { type: 'no_credentials', message: lack }
  const provider = createReachedProvider(modelIdOf(model), found, facts)
  return { type: 'ready', provider, endpoint: shownAddress(found.baseUrl), ...readinessOf(facts) }
}

function unknownModel(model: ModelName, services: KnownServices, brought: readonly ModelName[]): string {
  const ours = [...services.values()].flatMap(({ name, defaultModel }) =>
    defaultModel ? [`${name}/${defaultModel}`] : [],
  )
  const names = [demoModel, ...ours, ...brought]
  const providers = [...services.keys()]
  const near = didYouMean(model, names) || didYouMean(providerOf(model), providers)
  return `There is no model ${model}.${near} There are: ${names.join(', ')}, and any other of ${providers.join(', ')}.`
}

const readinessOf = ({ contextTokens, takes, thinkingLevels }: ModelFacts) => ({
  contextTokens: contextTokens ?? undefined,
  takes: takes ?? undefined,
  thinkingLevels: thinkingLevels ?? undefined,
})
