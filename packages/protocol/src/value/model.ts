import { z } from 'zod'
import { ModelName, ProviderName, ThinkingLevel } from './settings.ts'

const dollars = z.number().min(0)
/** Far above any real model; a larger value is a mistake. */
const tokensMax = 1_000_000_000
const tokens = z.int().min(1).max(tokensMax)

/** Price of a model in dollars per million tokens. */
export const Price = z.object({ input: dollars, output: dollars, cacheRead: dollars, cacheWrite: dollars })
export type Price = z.infer<typeof Price>

/** What is known about a model; null when unknown. */
export const ModelFacts = z.object({
  /** Display name. */
  title: z.string().nullable(),
  /** Context size and maximum output. */
  contextTokens: tokens.nullable(),
  /** The longest answer, in tokens. */
  outputTokens: tokens.nullable(),
  /** Its price in dollars per million tokens. */
  price: Price.nullable(),
  /** File types it accepts besides text: media types, or `image/*`. */
  takes: z.array(z.string()).nullable(),
  /** Whether it can call tools. */
  tools: z.boolean().nullable(),
  /** The thinking levels it has. */
  thinkingLevels: z.array(ThinkingLevel).min(1).nullable(),
})
export type ModelFacts = z.infer<typeof ModelFacts>

const GivenPrice = z
  .strictObject({ input: dollars, output: dollars, cacheRead: dollars.optional(), cacheWrite: dollars.optional() })
  .describe('Dollars per million tokens. A missing cache price equals the input price.')

/** Fills in missing cache prices with the input price. */
export const completePrice = ({ input, output, cacheRead, cacheWrite }: z.infer<typeof GivenPrice>): Price => ({
  input,
  output,
  cacheRead: cacheRead ?? input,
  cacheWrite: cacheWrite ?? input,
})

/** Facts from a configuration or a catalogue; null marks a fact as unknown. */
export const GivenFacts = z.strictObject({ ...ModelFacts.shape, price: GivenPrice.nullable() }).partial()
export type GivenFacts = z.infer<typeof GivenFacts>

/** A model, what is known about it, and whether it can be called. */
export const ListedModel = z.object({
  /** The name of the model, as `provider/model`. */
  model: ModelName,
  ...ModelFacts.shape,
  /** Why it cannot be called; null when it can. */
  unusable: z.string().nullable(),
  /** The model of a session that names none. */
  isDefault: z.literal(true).optional(),
})
export type ListedModel = z.infer<typeof ListedModel>

/** Where an API key was found. */
export const KeySource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('variable'), name: z.string() }),
  z.object({ type: z.literal('file') }),
])
export type KeySource = z.infer<typeof KeySource>

/** A provider, named by the first part of its model names. */
export const ListedProvider = z.object({
  provider: ProviderName,
  title: z.string(),
  /** Its address, without secrets. */
  endpoint: z.string().nullable(),
  /** Where its key was found; null when it has or needs none. */
  keyFrom: KeySource.nullable(),
  unusable: z.string().nullable(),
  /** A key would make it usable: it has none, or one that no provider can have. */
  needsKey: z.literal(true).optional(),
})
export type ListedProvider = z.infer<typeof ListedProvider>

/** All models and providers; those that cannot be called say why. */
export const ModelList = z.object({ models: z.array(ListedModel), providers: z.array(ListedProvider) })
export type ModelList = z.infer<typeof ModelList>

/** An entry of the rotation of `cycleModel`. */
export const RotationEntry = z.strictObject({ model: ModelName, thinkingLevel: ThinkingLevel.optional() })
export type RotationEntry = z.infer<typeof RotationEntry>

/** Result of `cycleModel`: entry `index` of `total`, counted from 0. */
export const CycledModel = z.object({
  /** The model in use now. */
  model: ModelName,
  /** Its place in the rotation, counted from 0. */
  index: z.int().min(0),
  /** The length of the rotation. */
  total: z.int().min(1),
  /** The thinking level in use now. */
  thinkingLevel: ThinkingLevel,
})
export type CycledModel = z.infer<typeof CycledModel>
