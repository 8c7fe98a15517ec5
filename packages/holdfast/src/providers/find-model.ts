import type { LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider'
import type { ModelReadiness } from '@holdfast/core/ports'
import { didYouMean, type ModelFacts, type ModelName, modelIdOf, providerOf } from '@holdfast/protocol'
import type { Environment } from '../system/home.ts'
import { type Connection, findConnectionProblem } from './connect/connection.ts'
import { createLazyProvider, createServiceProvider } from './connect/provider.ts'
import { createDemo, demoModel } from './demo/provider.ts'
import { redactAddress } from './services/address.ts'
import type { Services } from './services/registry.ts'

/** AI SDK models that an embedding program adds, by the name that people use. */
export type CustomModels = { readonly [name: ModelName]: LanguageModelV3 | LanguageModelV4 }

export type FindModelDeps = {
  readonly environment: Environment
  readonly custom: ReadonlyMap<ModelName, CustomModels[ModelName]>
  readonly services: Services
  readonly connect: (model: ModelName) => Connection | null
  readonly facts: ModelFacts
}

/** Returns a provider for a model, or why it cannot be called. Sends no request and loads no library. */
export function findModel(model: ModelName, deps: FindModelDeps): ModelReadiness {
  const { custom, environment, services, connect, facts } = deps
  const { contextTokens, takes, thinkingLevels } = facts
  const known = {
    contextTokens: contextTokens ?? undefined,
    takes: takes ?? undefined,
    thinkingLevels: thinkingLevels ?? undefined,
  }
  const own = custom.get(model)
  if (own !== undefined) {
    const options = { ...facts, title: providerOf(model) }
    const load = async () => (await import('./ai-sdk/provider.ts')).createAiSdkProvider(own, options)
    return { type: 'ready', provider: createLazyProvider(load), ...known }
  }
  if (model === demoModel) return { type: 'ready', provider: createDemo(environment), ...known }
  const connection = connect(model)
  if (connection === null)
    return { type: 'unknown_model', message: explainUnknown(model, services, [...custom.keys()]) }
  const problem = findConnectionProblem(connection)
  if (problem !== null) return { type: 'no_credentials', message: problem }
  const provider = createServiceProvider(modelIdOf(model), connection, facts)
  return { type: 'ready', provider, endpoint: redactAddress(connection.baseUrl), ...known }
}

function explainUnknown(model: ModelName, services: Services, custom: readonly ModelName[]): string {
  const defaults = [...services.values()].flatMap(({ name, defaultModel }) =>
    defaultModel ? [`${name}/${defaultModel}`] : [],
  )
  const names = [demoModel, ...defaults, ...custom]
  const providers = [...services.keys()]
  const similar = didYouMean(model, names) || didYouMean(providerOf(model), providers)
  return `There is no model ${model}.${similar} Use ${names.join(', ')}, or any other model of ${providers.join(', ')}.`
}
