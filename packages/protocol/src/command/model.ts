import { z } from 'zod'
import { ModelName, ThinkingLevel } from '../value/settings.ts'

export const SetModel = z.strictObject({ type: z.literal('setModel'), model: ModelName })
/** The next model of the configured rotation, or the one before; an entry may bring its thinking level. */
export const CycleModel = z.strictObject({
  type: z.literal('cycleModel'),
  /** `next` when absent. */
  direction: z.enum(['next', 'previous']).optional(),
})
export const SetThinkingLevel = z.strictObject({ type: z.literal('setThinkingLevel'), level: ThinkingLevel })
/** The next thinking level that the model knows; after the last comes the first. */
export const CycleThinkingLevel = z.strictObject({ type: z.literal('cycleThinkingLevel') })
/** Looks anew for credentials, for all sessions of the process: who was refused for want of them may ask again. */
export const RefreshCredentials = z.strictObject({ type: z.literal('refreshCredentials') })

/** Which model is called, how hard it thinks, and whether it can be called. */
export const modelCommands = [SetModel, CycleModel, SetThinkingLevel, CycleThinkingLevel, RefreshCredentials] as const
export type ModelCommand = z.infer<(typeof modelCommands)[number]>
