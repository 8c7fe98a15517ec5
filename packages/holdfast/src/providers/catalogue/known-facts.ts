import { type ModelFacts, type ModelName, modelIdOf, providerOf } from '@holdfast/protocol'
import { factsOf } from './catalogue.ts'
import type { FactsByModel } from './facts-by-model.ts'

/** What is known of models, from all who say something of them. */
export interface KnownFacts {
  of(model: ModelName): ModelFacts
  /** The models that anything is known of. */
  names(): readonly ModelName[]
}

export type KnownFactsDeps = {
  /** Who says something now; a later one has the last word. */
  readonly layers: () => readonly FactsByModel[]
  /** The provider whose models these are, behind another API. */
  readonly sameAs: (provider: string) => string | undefined
}

export const createKnownFacts = ({ layers, sameAs }: KnownFactsDeps): KnownFacts => ({
  /** Behind another API the same model is the same, unless someone says otherwise of it there. */
  of(model) {
    const all = layers()
    const same = sameAs(providerOf(model))
    if (same === undefined) return factsOf(model, all)
    return factsOf(model, [{ [model]: factsOf(`${same}/${modelIdOf(model)}`, all) }, ...all])
  },
  names: () => layers().flatMap(Object.keys),
})
