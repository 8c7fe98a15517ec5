import {
  type ListedModel,
  type ListedProvider,
  type ModelFacts,
  type ModelList,
  type ModelName,
  providerOf,
} from '@holdfast/protocol'
import { type Connection, findConnectionProblem, keySourceOf } from './connect/connection.ts'
import { demoModel } from './demo/provider.ts'
import type { LocalModels } from './local/local-models.ts'
import { redactAddress } from './services/address.ts'

export type ListModelsDeps = {
  /** All known models. */
  readonly names: readonly ModelName[]
  /** Models that an embedding program added; they are always usable. */
  readonly custom: ReadonlyMap<ModelName, unknown>
  readonly connections: readonly Connection[]
  readonly local: LocalModels
  readonly findFacts: (model: ModelName) => ModelFacts
  readonly defaultModel: ModelName
}

/** Lists all known models and their providers, with the reason why one cannot be used. */
export function listModels(deps: ListModelsDeps): ModelList {
  const { names, custom, connections, local, findFacts, defaultModel } = deps
  const providers = connections.map((connection) => listProvider(connection, local))
  const ranks = new Map(providers.map(({ provider }, index) => [provider, index]))
  const rankOf = ({ model }: ListedModel) => ranks.get(providerOf(model)) ?? providers.length
  const explainUnusable = (model: ModelName): string | null => {
    if (model === demoModel || custom.has(model)) return null
    const provider = providers[ranks.get(providerOf(model)) ?? -1]
    return provider === undefined
      ? `There is no provider ${providerOf(model)}. Add it to providers in the config.`
      : provider.unusable
  }
  const models = [...new Set([defaultModel, ...names])].map(
    (model): ListedModel => ({
      model,
      ...findFacts(model),
      unusable: explainUnusable(model),
      ...(model === defaultModel && { isDefault: true }),
    }),
  )
  // By provider, in the order of the presets; within one, in the order of the catalogue.
  return { models: models.toSorted((one, other) => rankOf(one) - rankOf(other)), providers }
}

function listProvider(connection: Connection, local: LocalModels): ListedProvider {
  const { name, title } = connection.service
  const endpoint = redactAddress(connection.baseUrl) ?? null
  const offline = `No ${title} answers at ${endpoint}. Start it there, or configure its address.`
  return {
    provider: name,
    title,
    endpoint,
    keyFrom: keySourceOf(connection),
    unusable: findConnectionProblem(connection) ?? (local.isOffline(connection) ? offline : null),
  }
}
