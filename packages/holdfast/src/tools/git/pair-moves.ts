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
  const taken = new Set<string>()
  const groups = Map.groupBy(
    changes.filter(({ change }) => change !== 'deleted'),
    ({ path, after }) => after ?? linkKey(links.get(path)),
  )
  const targets = new Map([...groups].map(([content, files]) => [content, createBySimilarity(files, taken)]))
  const waiting = changes.flatMap((one) => (one.change === 'deleted' ? goneOf(one) : []))
  const moves: { readonly from: Gone; readonly to: FileChange }[] = []
  for (let from = waiting.shift(); from !== undefined; from = waiting.shift()) {
    const { path, before } = from
    const to = targets.get(before.type === 'file' ? before.hash : linkKey(before.target))?.(path)
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

/** Names at the end of a path that are compared: more of them make no difference to people. */
const namesMax = 16

/**
 * Returns a function that finds, of files that are not taken, the one whose path ends most like another; of those, the first.
 * They are kept by the ends of their paths, because a command may move many equal files.
 */
function createBySimilarity(files: readonly FileChange[], taken: ReadonlySet<string>) {
  const byEnd = new Map<string, { readonly files: FileChange[]; first: number }>()
  for (const file of files)
    for (const end of endsOf(file.path)) {
      const known = byEnd.get(end)
      if (known) known.files.push(file)
      else byEnd.set(end, { files: [file], first: 0 })
    }
  return (path: string): FileChange | undefined => {
    for (const end of endsOf(path).toReversed()) {
      const known = byEnd.get(end)
      if (known === undefined) continue
      while (taken.has(known.files[known.first]?.path ?? '')) known.first++
      const found = known.files[known.first]
      if (found) return found
    }
    return undefined
  }
}

/** Returns the ends of a path from the shortest: none of its names, the last, the last two. */
function endsOf(path: string): readonly string[] {
  const ends = ['']
  for (let at = path.length; at > -1 && ends.length <= namesMax; ) {
    at = at === 0 ? -1 : path.lastIndexOf('/', at - 1)
    ends.push(path.slice(at + 1))
  }
  return ends
}
