import { z } from 'zod'
import { BranchName, Instant, MessageId, TurnNumber } from './id.ts'
import { limits } from './limits.ts'

/** A saved line. */
export const Branch = z.object({
  /** The name of the branch. */
  name: BranchName,
  /** How many turns it has. */
  turns: TurnNumber,
  /** How many messages it has. */
  messages: z.int().min(0),
  /** When it was saved. */
  at: Instant,
  /** Saved by setHistory or truncateHistory, not by a person who moved. */
  hidden: z.literal(true).optional(),
})
export type Branch = z.infer<typeof Branch>

/** A branch and its first message that is not on the current line, if any. */
export const ListedBranch = Branch.extend({ differsAt: MessageId.nullable() })
export type ListedBranch = z.infer<typeof ListedBranch>

/**
 * Returns the branches after a move: adds the saved line and removes the one switched to. Above the limit the oldest
 * hidden branch is dropped from the list; the log still has it.
 */
export function moveBranches<One extends { readonly name: string; readonly hidden?: true | undefined }>(
  branches: readonly One[],
  saved: One,
  current: string | null,
): One[] {
  const all = [...branches.filter(({ name }) => name !== current && name !== saved.name), saved]
  const oldest = all.length > limits.branchesMax ? all.findIndex(({ hidden }) => hidden) : -1
  return oldest === -1 ? all : all.toSpliced(oldest, 1)
}
