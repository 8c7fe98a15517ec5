import { z } from 'zod'
import { ClientEvent } from '../event/session.ts'
import { expecting } from '../text/explain.ts'
import { limits } from '../value/limits.ts'
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

/** Lists the session first and keeps it from prune and clearAll, or no longer; without `pinned` the other way round. */
export const PinSession = z.strictObject({ type: z.literal('pinSession'), pinned: z.boolean().optional() })

/** Names the session. An empty title gives it the first line of its first prompt again. */
export const Rename = z.strictObject({
  type: z.literal('rename'),
  title: z
    .string(expecting('a title'))
    .trim()
    .max(limits.givenTitleCharsMax, `a title has at most ${limits.givenTitleCharsMax} characters`)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'a title is one line without control characters'),
})

/** Lets the session work in another folder from now on: its own was moved. */
export const MoveWorkdir = z.strictObject({
  type: z.literal('moveWorkdir'),
  workdir: z.string(expecting('a folder')).min(1).max(limits.toolPathCharsMax),
})

/** How a session is kept: its name, its place in the list and on the disk. */
export const catalogueCommands = [PinSession, Rename, MoveWorkdir] as const
export type CatalogueCommand = z.infer<(typeof catalogueCommands)[number]>

/** Keeps an event of a client's own for other clients; once, however often it is sent. */
export const AppendClientEvent = z.strictObject({
  type: z.literal('appendClientEvent'),
  event: ClientEvent,
  /** With this one they cover the whole session. */
  complete: z.boolean().optional(),
})
export type AppendClientEvent = z.infer<typeof AppendClientEvent>
