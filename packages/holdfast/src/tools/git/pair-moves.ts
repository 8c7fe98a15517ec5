import type { FileChange } from '@holdfast/protocol'

/** Joins a file that is gone and a new one with the same content: it was moved. */
export function pairMoves(changes: readonly FileChange[]): readonly FileChange[] {
  const gone = new Map<string, FileChange>()
  for (const one of changes) if (one.change === 'deleted' && one.before?.type === 'file') gone.set(one.before.hash, one)
  const moves = changes.flatMap((one): readonly FileChange[] => {
    const from = one.change === 'created' && one.after ? gone.get(one.after) : undefined
    if (!from) return []
    gone.delete(one.after ?? '')
    return [{ ...one, change: 'moved', from: from.path, ...(from.before && { before: from.before }) }]
  })
  const joined = new Set(moves.flatMap(({ path, from }) => [path, from]))
  return [...changes.filter(({ path }) => !joined.has(path)), ...moves]
}
