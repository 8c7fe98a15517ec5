import { z } from 'zod'
import { fault } from '../value/fault.ts'
import { Instant } from '../value/id.ts'

/** A command in the background of a session. It stays listed after its end, until the session is unloaded. */
export const BackgroundShell = z.object({
  /** Its id for `shell_output` and `shell_stop`. */
  id: z.string(),
  /** The command, as the model gave it. */
  command: z.string(),
  /** When it went to the background. */
  startedAt: Instant,
  /** How much it has printed so far. */
  outputBytes: z.int().min(0),
  /** The end of what it has printed so far, as a terminal would show it; known keys are masked. */
  tail: z.string(),
  /** Something was printed before `tail`. */
  isCut: z.boolean(),
  /** How it ended; absent while it runs. */
  ended: z
    .object({
      /** When it ended. */
      at: Instant,
      /** The exit code; null if it was killed or stopped. */
      exitCode: z.int().nullable(),
      /** How it ended, in words: `exit code 0`, `stopped`. */
      how: z.string(),
    })
    .optional(),
})
export type BackgroundShell = z.infer<typeof BackgroundShell>

export const noSuchShell = fault(
  'not_found',
  'No command in the background of this session has this id. It may have ended.',
)
