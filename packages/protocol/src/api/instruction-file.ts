import { z } from 'zod'

/** A file of instructions that the model of a session is told, such as `AGENTS.md`. */
export const InstructionFile = z.object({
  /** Its path: relative to the workdir, or absolute for the user's own. */
  path: z.string(),
  /** Whose it is. That of a workspace may be written by a stranger. */
  scope: z.enum(['user', 'workspace']),
  /** The file that imports it; absent for one that is found by its name. */
  importedBy: z.string().optional(),
  /** How much of it the model is told. */
  bytes: z.int().min(0),
  /** Its end did not fit. */
  isCut: z.boolean(),
})
export type InstructionFile = z.infer<typeof InstructionFile>
