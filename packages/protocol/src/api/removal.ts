import { z } from 'zod'
import { FolderPath, GivenTime, Handle, SessionId } from '../value/id.ts'

const Named = z.object({ id: SessionId, handle: Handle, title: z.string() })

/** Why a session was not removed: it runs, has clients, is pinned, or another process has it open. */
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
  /** The sessions that were not removed, each with the reason. */
  stayed: z.array(Named.extend({ reason: NotRemovedReason })),
  /** Whether nothing was changed. */
  dryRun: z.boolean(),
})
export type Removal = z.infer<typeof Removal>

const dryRun = {
  /** Only reports what would be removed. */
  dryRun: z.boolean().optional(),
}

/** How to move one session to the trash. */
export const DeleteOptions = z.strictObject({
  /** Stops a running or attached session first and removes it too. */
  force: z.boolean().optional(),
  ...dryRun,
})
export type DeleteOptions = z.input<typeof DeleteOptions>

/** Which sessions `clearAll` moves to the trash. */
export const ClearOptions = z.strictObject({
  /** Only sessions of this folder. */
  workspace: FolderPath.optional(),
  /** Stops running and attached sessions first, and removes them and pinned ones too. */
  force: z.boolean().optional(),
  ...dryRun,
})
export type ClearOptions = z.input<typeof ClearOptions>

/** Which inactive sessions to move to the trash. */
export const PruneOptions = z.strictObject({
  /** Sessions whose last message is older than this. */
  before: GivenTime,
  /** Only sessions of this folder. */
  workspace: FolderPath.optional(),
  ...dryRun,
})
export type PruneOptions = z.input<typeof PruneOptions>

/** Which sessions of the trash to delete permanently. */
export const EmptyTrashOptions = z.strictObject({
  /** Only sessions trashed before this; all when absent. */
  before: GivenTime.optional(),
  ...dryRun,
})
export type EmptyTrashOptions = z.input<typeof EmptyTrashOptions>
