import type { BeforeImage, FileChange } from '@holdfast/protocol'

/** A file or link that is no longer where it was. */
type Gone = { readonly path: string; readonly before: Extract<BeforeImage, { readonly type: 'file' | 'link' }> }

/**
 * Joins a file that is gone and one elsewhere that has its content now: it was moved. If it was moved over another file,
 * that one may have been moved out of the way before. Of equal files, those with the most similar paths are joined.
 * `links` has the targets of the links that are there now, by path.
 */
export function pairMoves(
  changes: readonly FileChange[],
  links: ReadonlyMap<string, string> = new Map(),
): readonly FileChange[] {
  const targets = Map.groupBy(
    changes.filter(({ change }) => change !== 'deleted'),
    ({ path, after }) => after ?? linkKey(links.get(path)),
  )
  const waiting = changes.flatMap((one) => (one.change === 'deleted' ? goneOf(one) : []))
  const moves: { readonly from: Gone; readonly to: FileChange }[] = []
  const taken = new Set<string>()
  for (let from = waiting.shift(); from !== undefined; from = waiting.shift()) {
    const { path, before } = from
    const free = (targets.get(before.type === 'file' ? before.hash : linkKey(before.target)) ?? []).filter(
      (to) => !taken.has(to.path) && to.path !== path,
    )
    const to = mostSimilar(path, free)
    if (!to) continue
    taken.add(to.path)
    moves.push({ from, to })
    waiting.push(...goneOf(to)) // what it replaced may be elsewhere too
  }
  const left = new Set(moves.map(({ from }) => from.path))
  const joined = moves.map(({ from, to: { before: replaced, ...to } }): FileChange => {
    const hasReplaced = replaced !== undefined && replaced.type !== 'absent' && !left.has(to.path)
    return { ...to, change: 'moved', from: from.path, before: from.before, ...(hasReplaced && { replaced }) }
  })
  const others = changes.filter(({ path }) => !left.has(path) && !taken.has(path))
  // A file that made room was moved first.
  return [...others, ...joined.toReversed()]
}

/** Identifies a link by its target; undefined for what is no link. No hash of a file looks like it. */
const linkKey = (target: string | undefined) => target && `-> ${target}`

const goneOf = ({ path, before }: FileChange): readonly Gone[] =>
  before?.type === 'file' || before?.type === 'link' ? [{ path, before }] : []

/** Returns the file whose path ends most like this one; of those, the first. */
function mostSimilar(path: string, files: readonly FileChange[]): FileChange | undefined {
  const names = path.split('/').toReversed()
  const common = (other: string) => {
    const others = other.split('/').toReversed()
    const differs = names.findIndex((name, place) => name !== others[place])
    return differs === -1 ? names.length : differs
  }
  let best: FileChange | undefined
  let most = -1
  for (const file of files) {
    const count = common(file.path)
    if (count > most) [best, most] = [file, count]
  }
  return best
}
