import { z } from 'zod'
import { ClientEvent } from '../event/session.ts'
import { expecting } from '../text/explain.ts'
import { limits } from '../value/limits.ts'
import { ModelName, ServerName, ThinkingLevel } from '../value/settings.ts'
import { SkillName } from '../value/skill.ts'

/** Commands that choose the model and its thinking level. */
export const modelCommands = [
  z.strictObject({ type: z.literal('setModel'), model: ModelName }),
  /** Switches to the next or previous model of the configured rotation. An entry may also set the thinking level. */
  z.strictObject({
    type: z.literal('cycleModel'),
    /** `next` when absent. */
    direction: z.enum(['next', 'previous']).optional(),
  }),
  z.strictObject({ type: z.literal('setThinkingLevel'), level: ThinkingLevel }),
  /** Switches to the next thinking level of the model, in a circle. */
  z.strictObject({ type: z.literal('cycleThinkingLevel') }),
  /** Looks for credentials again, for all sessions of the process. */
  z.strictObject({ type: z.literal('refreshCredentials') }),
] as const
export type ModelCommand = z.infer<(typeof modelCommands)[number]>

/** Commands that change how a session is listed and where it works. */
export const catalogueCommands = [
  /** Lists the session first and protects it from prune and clearAll. Toggles when `pinned` is absent. */
  z.strictObject({ type: z.literal('pinSession'), pinned: z.boolean().optional() }),
  /** Sets the title. An empty title restores the first line of the first prompt. */
  z.strictObject({
    type: z.literal('rename'),
    title: z
      .string(expecting('a title'))
      .trim()
      .max(limits.givenTitleCharsMax, `a title has at most ${limits.givenTitleCharsMax} characters`)
      .regex(/^[^\p{Cc}\u2028\u2029]*$/u, 'a title is one line without control characters'),
  }),
  /** Changes the working directory, for example after it was moved. */
  z.strictObject({
    type: z.literal('moveWorkdir'),
    workdir: z.string(expecting('a folder')).min(1).max(limits.toolPathCharsMax),
  }),
] as const
export type CatalogueCommand = z.infer<(typeof catalogueCommands)[number]>

const path = z
  .string(expecting('a path in the workdir'))
  .min(1)
  .max(limits.toolPathCharsMax)
  .refine((text) => !text.includes('\0'), 'a path has no NUL character')
const line = z.int(expecting('a line number, counted from 0'))

/** Commands that limit which lines of a file tools may change. */
export const boundaryCommands = [
  /** Lets tools change only these lines of the file, counted from 0, both included. */
  z.strictObject({ type: z.literal('setBoundary'), path, start: line, end: line }),
  /** Removes the boundary of a file. */
  z.strictObject({ type: z.literal('clearBoundary'), path }),
  /** Removes all boundaries. */
  z.strictObject({ type: z.literal('clearAllBoundaries') }),
] as const

/** Commands about the skills that the session follows. */
export const skillCommands = [
  /** Tells the model a skill from its next step on. */
  z.strictObject({ type: z.literal('activateSkill'), name: SkillName }),
  /** Deactivates a skill. Text already in the conversation stays. */
  z.strictObject({ type: z.literal('deactivateSkill'), name: SkillName }),
] as const

/** Commands about the MCP servers of the session. */
export const serverCommands = [
  /** Lets the session use a server, or no longer. The model sees its tools from the next step on. */
  z.strictObject({ type: z.literal('setServer'), server: ServerName, on: z.boolean() }),
  /** Tries again to reach a server, and asks what it offers. It is not recorded. */
  z.strictObject({ type: z.literal('retryServer'), server: ServerName }),
] as const

/** Stores a client's own event for other clients. The same event is stored once. */
export const AppendClientEvent = z.strictObject({
  type: z.literal('appendClientEvent'),
  event: ClientEvent,
  /** The client events now cover the whole session. */
  complete: z.boolean().optional(),
})
export type AppendClientEvent = z.infer<typeof AppendClientEvent>
