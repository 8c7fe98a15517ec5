/** A message in a file whose messages name the one before them. */
export type Node<Value> = {
  readonly id: string | undefined
  /** Null for the first; one that is not in the file counts as the message written before. */
  readonly parent: string | null | undefined
  readonly value: Value
  /** Whether a line may end here: a result that something else follows is no end of its own. */
  readonly isLeaf: boolean
}

export type Lines<Value> = {
  readonly main: readonly Value[]
  readonly others: readonly (readonly Value[])[]
  readonly left: number
}

/** The line to the newest message, and those to other ends, oldest first; at most `max` of those. */
export function linesOf<Value>(nodes: readonly Node<Value>[], max: number): Lines<Value> {
  const places = new Map<string, number>()
  const parents: number[] = []
  const hasChild = new Set<number>()
  for (const [place, { id, parent }] of nodes.entries()) {
    const named = typeof parent === 'string' ? places.get(parent) : undefined
    const above = named ?? place - 1 // a hole in the chain is bridged in file order
    parents.push(above)
    hasChild.add(above)
    if (id !== undefined) places.set(id, place)
  }
  const lineTo = (leaf: number): readonly Value[] => {
    const line: Value[] = []
    for (let place = leaf; place >= 0; place = parents[place] ?? -1) {
      const node = nodes[place]
      if (node) line.push(node.value)
    }
    return line.reverse()
  }
  const newest = nodes.length - 1
  const leaves = nodes.flatMap(({ isLeaf }, place) =>
    isLeaf && place !== newest && !hasChild.has(place) ? [place] : [],
  )
  const taken = max === 0 ? [] : leaves.slice(-max)
  return { main: lineTo(newest), others: taken.map(lineTo), left: leaves.length - taken.length }
}
