import type { ListedBranch, Message } from '@holdfast/protocol'

/** A branch and its first message that is not on the current line, or null. */
export type ShownBranch = ListedBranch & { readonly first: Message | null }

/** The branches that diverge after `turn`, or before the first turn. */
export type Parting = { readonly turn: number | null; readonly branches: readonly ShownBranch[] }

/** Groups branches by where they diverge. `known` are the loaded messages of the line. */
export function partingsOf(branches: readonly ShownBranch[], known: readonly Message[]): readonly Parting[] {
  const partings = new Map<number | null, ShownBranch[]>()
  for (const branch of branches) {
    const turn = lastSharedTurn(branch, known)
    partings.set(turn, [...(partings.get(turn) ?? []), branch])
  }
  return [...partings]
    .map(([turn, branches]) => ({ turn, branches }))
    .sort((left, right) => (left.turn ?? -1) - (right.turn ?? -1))
}

/** Returns the last turn that a branch shares with the line. */
function lastSharedTurn({ differsAt, turns, first }: ShownBranch, known: readonly Message[]): number | null {
  if (differsAt === null) return turns === 0 ? null : turns - 1 // the line continues it
  if (!first || first.parent === null) return null
  const shared = known.find(({ id }) => id === first.parent)
  if (shared) return shared.turn
  if (first.kind !== 'user') return first.turn // a message was added to the end of a turn
  return first.turn === 0 ? null : first.turn - 1
}
