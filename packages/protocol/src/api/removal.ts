import { z } from 'zod'
import { GivenTime, Handle, SessionId } from '../value/id.ts'

const Named = z.object({ id: SessionId, handle: Handle, title: z.string() })

export const NotRemovedReason = z.enum(['running', 'attached', 'pinned', 'open_elsewhere'])
export type NotRemovedReason = z.infer<typeof NotRemovedReason>

/** The sessions a removal took (or would take, with `dryRun`), and those it left, each with a reason. */
export const Removal = z.object({
  /** How many sessions were removed. */
  count: z.int().min(0),
  /** The first removed sessions, at most `limits.removalNamesMax`. */
  gone: z.array(Named),
  /** The removed sessions per workspace, at most `limits.removalNamesMax` rows. */
  workspaces: z.array(z.object({ workspace: z.string(), count: z.int().min(1) })),
  stayed: z.array(Named.extend({ reason: NotRemovedReason })),
  dryRun: z.boolean(),
})
export type Removal = z.infer<typeof Removal>

const dryRun = { dryRun: z.boolean().optional() }

export const DeleteOptions = z.strictObject({
  /** Stops a running or attached session first and removes it too. */
  force: z.boolean().optional(),
  ...dryRun,
})
export type DeleteOptions = z.input<typeof DeleteOptions>

export const ClearOptions = z.strictObject({
  workspace: z.string().optional(),
  /** Stops running and attached sessions first, and removes them and pinned ones too. */
  force: z.boolean().optional(),
  ...dryRun,
})
export type ClearOptions = z.input<typeof ClearOptions>

export const PruneOptions = z.strictObject({
  /** Sessions whose last message is older than this. */
  before: GivenTime,
  workspace: z.string().optional(),
  ...dryRun,
})
export type PruneOptions = z.input<typeof PruneOptions>

export const EmptyTrashOptions = z.strictObject({
  /** Only sessions trashed before this; all when absent. */
  before: GivenTime.optional(),
  ...dryRun,
})
export type EmptyTrashOptions = z.input<typeof EmptyTrashOptions>
