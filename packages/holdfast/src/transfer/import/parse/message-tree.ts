import { limits } from '@holdfast/protocol'
import type { Remark } from './conversation.ts'

/** A message in a file whose messages refer to their parent. */
export type TreeNode<Value> = {
  readonly id: string | undefined
  /** Undefined for the first. An unknown parent counts as the previous message in the file. */
  readonly parent: string | undefined
  readonly value: Value
  /** Whether a line may end here: a result alone is not the end of a line. */
  readonly isLeaf: boolean
}

/** Lines other than the current one are kept up to this many messages together, because they may share most of them. */
const otherMessagesMax = 2_000_000

/** Returns the line to the newest message, and the newest other lines that a session can keep, oldest first. */
export function findLines<Value>(
  nodes: readonly TreeNode<Value>[],
  remark: Remark,
  messagesMax: number = otherMessagesMax,
) {
  const indexes = new Map<string | undefined, number>()
  const parents: number[] = []
  const depths: number[] = []
  for (const [index, { id, parent }] of nodes.entries()) {
    const above = indexes.get(parent) ?? index - 1
    parents.push(above)
    depths.push(above === -1 ? 0 : (depths[above] ?? 0) + 1)
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
  const inner = new Set(parents)
  const leaves = [...nodes.keys()].filter((index) => nodes[index]?.isLeaf && index !== newest && !inner.has(index))
  const others: (readonly Value[])[] = []
  for (let length = 0; others.length < Math.min(leaves.length, limits.branchesMax); ) {
    const leaf = leaves[leaves.length - 1 - others.length] ?? 0
    length += (depths[leaf] ?? 0) + 1
    if (length > messagesMax) break
    others.push(lineTo(leaf))
  }
  const left = leaves.length - others.length
  if (left > 0) remark(null, 'branch_dropped', `${left} more lines than a session can keep were left out.`)
  return { main: lineTo(newest), others: others.reverse() }
}
