import { completePrice, GivenFacts, type ModelFacts, ModelName, modelIdOf, providerOf } from '@holdfast/protocol'
import { z } from 'zod'
import builtIn from './models.json' with { type: 'json' }

export const FactsByModel = z.record(ModelName, GivenFacts)
export type FactsByModel = { readonly [model: ModelName]: GivenFacts }

/** A file of model facts: the built-in one, and the one that a refresh writes. */
export const ModelCatalogue = z.strictObject({
  /** The date of the prices. */
  asOf: z.iso.date(),
  models: FactsByModel,
})
export type ModelCatalogue = z.infer<typeof ModelCatalogue>

export const builtInAsOf: string = builtIn.asOf
export const builtInFacts = builtIn.models as FactsByModel // JSON has no literal types; a test checks the schema

const noFacts: ModelFacts = {
  title: null,
  contextTokens: null,
  outputTokens: null,
  price: null,
  takes: null,
  tools: null,
  thinkingLevels: null,
}

/** The date at the end of a model's version: `claude-haiku-4-5-20251001`, `gpt-5-2025-08-07`. */
const versionDate = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** Merges the facts of a model, field by field; later layers win. */
export function mergeFacts(model: ModelName, layers: readonly FactsByModel[]): ModelFacts {
  const undated = model.replace(versionDate, '')
  let facts = noFacts
  for (const layer of layers) {
    const name = [model, undated].find((one) => Object.hasOwn(layer, one))
    const { price, ...given } = (name !== undefined && layer[name]) || {}
    const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
    facts = { ...facts, ...known, ...(price !== undefined && { price: price && completePrice(price) }) }
  }
  return facts
}

/** The merged facts of all models. */
export interface Facts {
  find(model: ModelName): ModelFacts
  /** Lists the models with any facts. */
  names(): readonly ModelName[]
}

export type FactsDeps = {
  /** The current layers; later ones win. */
  readonly layers: () => readonly FactsByModel[]
  /** Returns the provider with the same models behind another API. */
  readonly sameAs: (provider: string) => string | undefined
}

export const createFacts = ({ layers, sameAs }: FactsDeps): Facts => ({
  find(model) {
    const all = layers()
    const same = sameAs(providerOf(model))
    if (same === undefined) return mergeFacts(model, all)
    return mergeFacts(model, [{ [model]: mergeFacts(`${same}/${modelIdOf(model)}`, all) }, ...all])
  },
  names: () => layers().flatMap(Object.keys),
})
