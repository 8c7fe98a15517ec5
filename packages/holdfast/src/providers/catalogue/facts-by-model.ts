import { GivenFacts, ModelName } from '@holdfast/protocol'
import { z } from 'zod'

export const FactsByModel = z.record(ModelName, GivenFacts)
export type FactsByModel = { readonly [model: ModelName]: GivenFacts }

/** A file of such facts: the project's own, and the one that a refresh leaves. */
export const ModelCatalogue = z.strictObject({
  /** The day to which the prices hold. */
  asOf: z.iso.date(),
  models: FactsByModel,
})
export type ModelCatalogue = z.infer<typeof ModelCatalogue>
