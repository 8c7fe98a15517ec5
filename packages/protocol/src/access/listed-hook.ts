import { z } from 'zod'
import { HookRun } from '../event/hook.ts'
import type { Result } from '../value/result.ts'

/** A hook, and whether it runs. */
export const ListedHook = z.object({
  /** The event at which it runs; of an unsupported one, as its file names it. */
  event: z.string(),
  /** Its command, or the name of its function. */
  hook: z.string(),
  /** What it is for: tools, for example; empty for everything. */
  matcher: z.string(),
  /** Who brought it. */
  source: HookRun.shape.source,
  /**
   * `waiting` for a person who trusts it; `changed` since a person trusted it, so it does not run; `unsupported` by Holdfast.
   */
  state: z.enum(['active', 'waiting', 'changed', 'unsupported']),
  /** The file it comes from, relative to the workspace. */
  path: z.string().optional(),
  /** Its name among the offers of the workspace. */
  offer: z.string().optional(),
  /** Why it is unsupported, or what of it is not followed. */
  why: z.string().optional(),
})
export type ListedHook = z.infer<typeof ListedHook>

/** The hooks of a folder, in the order in which they run. */
export const HookList = z.object({ hooks: z.array(ListedHook) })

/** Lists hooks. */
export interface HookLister {
  /** Lists the hooks of a folder: those that run there, and those of its workspace that do not. Refused: bad_workdir. */
  list(workdir: string): Promise<Result<readonly ListedHook[]>>
}
