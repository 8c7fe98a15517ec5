import { z } from 'zod'
import { InstructionFile } from '../api/workspace-file.ts'
import { Boundary } from '../value/boundary.ts'
import type { Result } from '../value/result.ts'

/** A tool, and what happens to its calls. */
export const ListedTool = z.object({
  /** Its name, as models call it. */
  name: z.string(),
  /** The first sentence of its description. */
  about: z.string(),
  /** Whether it changes nothing. */
  isReadOnly: z.boolean(),
  /** Whether it can lose something. */
  isDestructive: z.boolean(),
  /** What happens to a call that no rule with a pattern covers. */
  verdict: z.enum(['allow', 'ask', 'deny']),
  /** The rules of the user and of the session, in words. */
  rules: z.array(z.string()),
})
export type ListedTool = z.infer<typeof ListedTool>

/** The tools of a folder or session, and what limits them. */
export const ToolList = z.object({
  /** The folder; empty if the session has none. */
  workdir: z.string(),
  /** How commands are confined. */
  sandbox: z.object({
    setting: z.enum(['auto', 'on', 'off']),
    isInForce: z.boolean(),
    /** Why it is not in force, as part of a sentence. */
    reason: z.string().optional(),
    /** Whether commands have the network without a rule and without being asked. */
    network: z.boolean(),
    /** What that means, in a sentence. */
    about: z.string(),
  }),
  /** The tools, in the order in which models see them. */
  tools: z.array(ListedTool),
  /** The files of instructions that the model is told. Later ones count more. */
  instructions: z.array(InstructionFile),
  /** The edit boundaries of the session. */
  boundaries: z.array(Boundary).optional(),
})
export type ToolList = z.infer<typeof ToolList>

/** Whose tools to list: those of a session, or those of a new session in a folder, by its absolute path. */
export const ToolsOf = z
  .strictObject({
    /** The name of a session. */
    session: z.string().optional(),
    /** The absolute path of a folder. */
    workdir: z.string().optional(),
  })
  .refine(({ session, workdir }) => (session === undefined) !== (workdir === undefined), {
    error: 'give either a session or a workdir',
  })
export type ToolsOf = z.infer<typeof ToolsOf>

/** Lists tools. */
export interface ToolLister {
  /** Lists the tools of a session with its edit boundaries, or those of a folder. Refused: session_not_found, bad_workdir. */
  list(of: ToolsOf): Promise<Result<ToolList>>
}
