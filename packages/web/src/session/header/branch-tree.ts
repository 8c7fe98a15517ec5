import type { ListedBranch, Message } from '@holdfast/protocol'

/** A branch with its first message that is not on the line the session stands on; null when it has none of its own. */
export type ShownBranch = ListedBranch & { readonly first: Message | null }

/** The branches that leave the line at one place: after `turn`, or before all of it. */
export type Parting = { readonly turn: number | null; readonly branches: readonly ShownBranch[] }

/** Where branches leave the line, in the order of the line. `known` is what of the line is at hand. */
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

/** The turn of the last message that a branch has in common with the line. */
function lastSharedTurn({ differsAt, turns, first }: ShownBranch, known: readonly Message[]): number | null {
  if (differsAt === null) return turns === 0 ? null : turns - 1 // the line goes on where it ends
  if (!first || first.parent === null) return null
  const shared = known.find(({ id }) => id === first.parent)
  if (shared) return shared.turn
  if (first.kind !== 'user') return first.turn // something was added to the end of a turn
  return first.turn === 0 ? null : first.turn - 1
}
