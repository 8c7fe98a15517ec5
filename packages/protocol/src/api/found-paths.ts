import { z } from 'zod'

/** A path that completes what a person has typed. */
export const FoundPath = z.object({
  /** Its path: relative to the workdir for a mention, absolute for a folder to work in. */
  path: z.string(),
  /** What is there. */
  type: z.enum(['file', 'folder']),
})
export type FoundPath = z.infer<typeof FoundPath>

/** Paths that complete a text, the best first. */
export const FoundPaths = z.object({
  paths: z.array(FoundPath),
  /** More paths match, or the search was stopped before its end. */
  isCut: z.boolean(),
})
export type FoundPaths = z.infer<typeof FoundPaths>
