/** A message in a file whose messages refer to their parent. */
export type TreeNode<Value> = {
  readonly id: string | undefined
  /** Null for the first. An unknown parent counts as the previous message in the file. */
  readonly parent: string | null | undefined
  readonly value: Value
  /** Whether a line may end here: a result alone is not the end of a line. */
  readonly isLeaf: boolean
}

export type MessageLines<Value> = {
  readonly main: readonly Value[]
  readonly others: readonly (readonly Value[])[]
  readonly left: number
}

/** Returns the line to the newest message, and at most `max` other lines, oldest first. */
export function findLines<Value>(nodes: readonly TreeNode<Value>[], max: number): MessageLines<Value> {
  const indexes = new Map<string, number>()
  const parents: number[] = []
  const hasChild = new Set<number>()
  for (const [index, { id, parent }] of nodes.entries()) {
    const named = typeof parent === 'string' ? indexes.get(parent) : undefined
    const above = named ?? index - 1 // a missing parent is replaced by file order
    parents.push(above)
    hasChild.add(above)
    if (id !== undefined) indexes.set(id, index)
  }
  const lineTo = (leaf: number): readonly Value[] => {
    const line: Value[] = []
    for (let index = leaf; index >= 0; index = parents[index] ?? -1) {
      const node = nodes[index]
      if (node) line.push(node.value)
    }
    return line.reverse()
  }
  const newest = nodes.length - 1
  const leaves = nodes.flatMap(({ isLeaf }, index) =>
    isLeaf && index !== newest && !hasChild.has(index) ? [index] : [],
  )
  const taken = max === 0 ? [] : leaves.slice(-max)
  return { main: lineTo(newest), others: taken.map(lineTo), left: leaves.length - taken.length }
}
