import { z } from 'zod'
import { Handle, Instant, SessionId } from '../value/id.ts'

const Named = z.object({ id: SessionId, handle: Handle, title: z.string() })

export const NotRemovedReason = z.enum(['running', 'attached', 'pinned', 'open_elsewhere'])
export type NotRemovedReason = z.infer<typeof NotRemovedReason>

/** What a removal took, or with `dryRun` would take, and what stayed and why. */
export const Removal = z.object({
  /** How many sessions went. */
  count: z.int().min(0),
  /** The first of them, at most `limits.removalNamesMax`. */
  gone: z.array(Named),
  /** Of which workspaces they were, at most as many. */
  workspaces: z.array(z.object({ workspace: z.string(), count: z.int().min(1) })),
  stayed: z.array(Named.extend({ reason: NotRemovedReason })),
  dryRun: z.boolean(),
})
export type Removal = z.infer<typeof Removal>

const dryRun = { dryRun: z.boolean().optional() }

export const DeleteOptions = z.strictObject({
  /** Also a session that runs or is attended: it is stopped first. */
  force: z.boolean().optional(),
  ...dryRun,
})
export type DeleteOptions = z.input<typeof DeleteOptions>

export const ClearOptions = z.strictObject({ workspace: z.string().optional(), ...dryRun })
export type ClearOptions = z.input<typeof ClearOptions>

export const PruneOptions = z.strictObject({
  /** Sessions in which nobody spoke since. */
  before: Instant,
  workspace: z.string().optional(),
  ...dryRun,
})
export type PruneOptions = z.input<typeof PruneOptions>

export const EmptyTrashOptions = z.strictObject({
  /** Only what was put there before; all of it when absent. */
  before: Instant.optional(),
  ...dryRun,
})
export type EmptyTrashOptions = z.input<typeof EmptyTrashOptions>
