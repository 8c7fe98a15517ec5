import { z } from 'zod'
import { ModelName, ProviderName, ThinkingLevel } from './settings.ts'

const dollars = z.number().min(0)
/** Far beyond any there is: what says more is mistaken. */
const tokensMax = 1_000_000_000
const tokens = z.int().min(1).max(tokensMax)

/** What a model costs, in dollars for a million tokens. */
export const Price = z.object({ input: dollars, output: dollars, cacheRead: dollars, cacheWrite: dollars })
export type Price = z.infer<typeof Price>

/** What is known of a model; null where nobody knows. */
export const ModelFacts = z.object({
  /** As people call it. */
  title: z.string().nullable(),
  /** How many tokens it takes, and how many it says at most. */
  contextTokens: tokens.nullable(),
  outputTokens: tokens.nullable(),
  price: Price.nullable(),
  /** Which files it takes beside text: media types, or `image/*`. */
  takes: z.array(z.string()).nullable(),
  /** Whether it can call tools. */
  tools: z.boolean().nullable(),
  thinkingLevels: z.array(ThinkingLevel).min(1).nullable(),
})
export type ModelFacts = z.infer<typeof ModelFacts>

const GivenPrice = z
  .strictObject({ input: dollars, output: dollars, cacheRead: dollars.optional(), cacheWrite: dollars.optional() })
  .describe('Dollars for a million tokens. A cache price that is left out is that of input.')

/** A price as people write it: what a cache costs may be left out, and is then what the same tokens cost without one. */
export const completePrice = ({ input, output, cacheRead, cacheWrite }: z.infer<typeof GivenPrice>): Price => ({
  input,
  output,
  cacheRead: cacheRead ?? input,
  cacheWrite: cacheWrite ?? input,
})

/** What someone says of a model: whatever they know, and null to say that it is not known. */
export const GivenFacts = z.strictObject({ ...ModelFacts.shape, price: GivenPrice.nullable() }).partial()
export type GivenFacts = z.infer<typeof GivenFacts>

export const ListedModel = z.object({
  model: ModelName,
  ...ModelFacts.shape,
  /** Why it cannot be called now; null when it can. */
  unusable: z.string().nullable(),
  /** The one a session gets when nobody names one. */
  isDefault: z.literal(true).optional(),
})
export type ListedModel = z.infer<typeof ListedModel>

/** Where a key was found. */
export const KeySource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('variable'), name: z.string() }),
  z.object({ type: z.literal('file') }),
])
export type KeySource = z.infer<typeof KeySource>

/** A place models are called at, by the first part of their names. */
export const ListedProvider = z.object({
  provider: ProviderName,
  title: z.string(),
  /** Where it is called, without what is secret of the address. */
  endpoint: z.string().nullable(),
  /** Where its key was found; null when it has none, or needs none. */
  keyFrom: KeySource.nullable(),
  unusable: z.string().nullable(),
})
export type ListedProvider = z.infer<typeof ListedProvider>

/** What can be called now, and why the rest cannot. */
export const ModelList = z.object({ models: z.array(ListedModel), providers: z.array(ListedProvider) })
export type ModelList = z.infer<typeof ModelList>

/** A stop of the rotation that `cycleModel` goes round. */
export const RotationEntry = z.strictObject({ model: ModelName, thinkingLevel: ThinkingLevel.optional() })
export type RotationEntry = z.infer<typeof RotationEntry>

/** Where `cycleModel` arrived: at stop `index` of `total`, counted from 0. */
export const CycledModel = z.object({
  model: ModelName,
  index: z.int().min(0),
  total: z.int().min(1),
  thinkingLevel: ThinkingLevel,
})
export type CycledModel = z.infer<typeof CycledModel>
