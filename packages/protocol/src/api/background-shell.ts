import { z } from 'zod'
import { Instant } from '../value/id.ts'

/** A command that runs in the background of a session. */
export const BackgroundShell = z.object({
  /** Its id for `shell_output` and `shell_stop`. */
  id: z.string(),
  /** The command, as the model gave it. */
  command: z.string(),
  /** When it went to the background. */
  startedAt: Instant,
  /** How much it has printed so far. */
  outputBytes: z.int().min(0),
})
export type BackgroundShell = z.infer<typeof BackgroundShell>
