import { z } from 'zod'
import { limits } from '../value/limits.ts'
import { expecting } from './expecting.ts'

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
