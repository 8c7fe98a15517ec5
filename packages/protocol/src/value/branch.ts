import { z } from 'zod'
import { BranchName, Instant, MessageId, TurnNumber } from './id.ts'
import { limits } from './limits.ts'

/** A line that was left and kept. */
export const Branch = z.object({
  name: BranchName,
  turns: TurnNumber,
  messages: z.int().min(0),
  /** When it was left. */
  at: Instant,
  /** Left by setting or cutting the history, not by someone who moved. */
  hidden: z.literal(true).optional(),
})
export type Branch = z.infer<typeof Branch>

/** A branch with where it parts from the line the session stands on: its first message that is not there, if any. */
export const ListedBranch = Branch.extend({ differsAt: MessageId.nullable() })
export type ListedBranch = z.infer<typeof ListedBranch>

/**
 * The branches after a move: the line that was left is among them, the one that was taken up is not. Histories may be set
 * and cut without end: of the lines they hid the newest can still be named, the others are in the log.
 */
export function moveBranches<One extends { readonly name: string; readonly hidden?: true | undefined }>(
  branches: readonly One[],
  kept: One,
  taken: string | null,
): One[] {
  const all = [...branches.filter(({ name }) => name !== taken && name !== kept.name), kept]
  const oldest = all.length > limits.branchesMax ? all.findIndex(({ hidden }) => hidden) : -1
  return oldest === -1 ? all : all.toSpliced(oldest, 1)
}
