import { completePrice, type GivenFacts, type ModelFacts, type ModelName } from '@holdfast/protocol'
import type { FactsByModel } from './facts-by-model.ts'
import project from './models.json' with { type: 'json' }

/** The day to which the prices of the project's own file hold. */
export const projectAsOf: string = project.asOf

/** What the project knows of models; a test holds the file to its schema. */
export const projectFacts = project.models as FactsByModel // JSON has no literal types

const nothingKnown: ModelFacts = {
  title: null,
  contextTokens: null,
  outputTokens: null,
  price: null,
  takes: null,
  tools: null,
  thinkingLevels: null,
}

/** A version of a model is named by its day behind the name: `claude-haiku-4-5-20251001`, `gpt-5-2025-08-07`. */
const day = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})$/

/** What is known of a model, field by field: a later layer has the last word. */
export function factsOf(model: ModelName, layers: readonly FactsByModel[]): ModelFacts {
  const undated = model.replace(day, '')
  let facts = nothingKnown
  for (const layer of layers) {
    const given = own(layer, model) ?? own(layer, undated)
    if (given !== undefined) facts = withGiven(facts, given)
  }
  return facts
}

const own = (layer: FactsByModel, model: ModelName): GivenFacts | undefined =>
  Object.hasOwn(layer, model) ? layer[model] : undefined

function withGiven(facts: ModelFacts, { price, ...given }: GivenFacts): ModelFacts {
  const said = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { ...facts, ...said, ...(price !== undefined && { price: price && completePrice(price) }) }
}
