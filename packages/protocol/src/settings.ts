import { z } from 'zod'

/** `provider/model`, as people write it. */
export const ModelName = z.string().regex(/^[a-z0-9][a-z0-9_-]*\/\S{1,200}$/, 'a model is named provider/model')
export type ModelName = z.infer<typeof ModelName>

export const providerOf = (model: ModelName): string => model.slice(0, model.indexOf('/'))

export const ThinkingLevel = z.enum(['off', 'low', 'medium', 'high'])
export type ThinkingLevel = z.infer<typeof ThinkingLevel>

export const Mode = z.enum(['exec', 'plan'])
export type Mode = z.infer<typeof Mode>

export const Budgets = z.object({
  maxSteps: z.int().min(1).optional(),
})
export type Budgets = z.infer<typeof Budgets>

/** What a person may change about a session at any time; it belongs to the session, not to a line. */
export const Settings = z.object({
  model: ModelName,
  thinkingLevel: ThinkingLevel,
  mode: Mode,
  title: z.string().max(200).optional(),
  budgets: Budgets,
})
export type Settings = z.infer<typeof Settings>
