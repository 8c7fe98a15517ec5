import {
  type ListedModel,
  type ListedProvider,
  type ModelFacts,
  type ModelList,
  type ModelName,
  providerOf,
} from '@holdfast/protocol'
import { keySourceOf, lackOf, type Reach } from './connect/reach.ts'
import { demoModel } from './demo-model.ts'
import type { LocalModels } from './local/local-models.ts'
import { shownAddress } from './services/address.ts'

export type Listing = {
  /** All that are known of, from wherever. */
  readonly names: readonly ModelName[]
  /** Those that the program brought: nobody else need be asked. */
  readonly brought: ReadonlySet<ModelName>
  readonly reach: readonly Reach[]
  readonly local: LocalModels
  readonly factsOf: (model: ModelName) => ModelFacts
  readonly defaultModel: ModelName
}

/** All models that are known of, the providers they are called at, and what each of them lacks. */
export function listModels({ names, brought, reach, local, factsOf, defaultModel }: Listing): ModelList {
  const providers = reach.map((one) => listedProvider(one, local))
  const lacking = new Map(providers.map(({ provider, unusable }) => [provider, unusable]))
  const unusableOf = (model: ModelName): string | null => {
    if (model === demoModel || brought.has(model)) return null
    const lack = lacking.get(providerOf(model))
    return lack === undefined
      ? `There is no provider ${providerOf(model)}. Name it under providers in the config.`
      : lack
  }
  const models = [...new Set([defaultModel, ...names])].map(
    (model): ListedModel => ({
      model,
      ...factsOf(model),
      unusable: unusableOf(model),
      ...(model === defaultModel && { isDefault: true }),
    }),
  )
  return { models: inOrder(models, providers), providers }
}

/** By provider, as they are looked through for a default; within one, as the catalogue names them. */
function inOrder(models: readonly ListedModel[], providers: readonly ListedProvider[]): ListedModel[] {
  const rank = new Map(providers.map(({ provider }, index) => [provider, index]))
  const rankOf = ({ model }: ListedModel) => rank.get(providerOf(model)) ?? providers.length
  return models.toSorted((one, other) => rankOf(one) - rankOf(other))
}

function listedProvider(reach: Reach, local: LocalModels): ListedProvider {
  const { name, title } = reach.service
  const endpoint = shownAddress(reach.baseUrl) ?? null
  const away = `No ${title} answers at ${endpoint}. Start it there, or say where it is.`
  return {
    provider: name,
    title,
    endpoint,
    keyFrom: keySourceOf(reach),
    unusable: lackOf(reach) ?? (local.isAway(reach) ? away : null),
  }
}
