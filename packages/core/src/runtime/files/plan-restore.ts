import { isSameState, type RefusedFile, type RestoredFile, type Seq } from '@holdfast/protocol'
import type { WantedFile } from '../../ports/workspace-files.ts'
import type { PathChange } from './path-change.ts'

/** Which files to put back, and which not. */
export type RestorePlan = {
  readonly wanted: readonly WantedFile[]
  readonly refused: readonly RefusedFile[]
  /** Files that an interrupted restore has put back as this one would. */
  readonly finished: readonly RestoredFile[]
}

type PlanOptions = {
  /** Only what this record changed; later changes of the same files are not undone with it. */
  readonly only?: Seq | undefined
  /** Only these paths. */
  readonly paths?: readonly string[] | undefined
  /** Whether it undoes a restore, whose files a person has named. */
  readonly isUndo?: boolean | undefined
}

/**
 * Plans to put back what was there before the given changes, oldest first: per path the oldest content. A path is refused
 * if that content was not kept, or if anybody else changed the file between two of the changes.
 */
export function planRestore(changes: readonly PathChange[], { only, paths, isUndo = false }: PlanOptions): RestorePlan {
  const asked = paths && new Set(paths)
  const byPath = Map.groupBy(changes, ({ path }) => path)
  const wanted: WantedFile[] = []
  const refused: RefusedFile[] = []
  const finished: RestoredFile[] = []
  for (const [path, all] of byPath) {
    const [first, last] = [all[0], all.at(-1)]
    if (!first || !last || (asked && !asked.has(path)) || (only !== undefined && first.seq !== only)) continue
    const { before: target } = first
    const done = finishedBy(last, first)
    if (done) {
      finished.push(done)
      continue
    }
    const why = whyNot(all, only)
    if (why !== null || target.type === 'not_kept' || last.after === null)
      refused.push({ path, why: why ?? (target.type === 'not_kept' ? `not kept: ${target.why}` : unknownNow(last)) })
    else if (!isSameState(target, last.after)) {
      const isNamed = isUndo || asked?.has(path) === true
      wanted.push({ path, expected: last.after, target, ...(isNamed && { isNamed }) })
    }
  }
  const known = [...(asked ?? [])].filter((path) => !byPath.has(path))
  const others = known.map((path) => ({ path, why: 'this session did not change it' }))
  return { wanted, refused: [...refused, ...others], finished }
}

const unknownNow = ({ isOpen }: PathChange) =>
  isOpen ? 'changed by others since' : 'what the session left there was not recorded'

/** Returns what an interrupted restore did to a path, if it put there what was before `first`. */
function finishedBy({ isOpen, path, before, after }: PathChange, first: PathChange): RestoredFile | null {
  const { before: target } = first
  if (
    !isOpen ||
    before.type === 'not_kept' ||
    target.type === 'not_kept' ||
    after === null ||
    !isSameState(target, after)
  )
    return null
  return { path, before, after: target }
}

function whyNot(all: readonly PathChange[], only: Seq | undefined): string | null {
  const isLater = only !== undefined && all.some(({ seq }) => seq > only)
  if (isLater && !isBackAgain(all)) return 'this session changed it again since'
  for (const [index, change] of all.entries()) {
    const earlier = all[index - 1]
    if (earlier && !isFound(earlier, change)) return 'others changed it between changes of this session'
  }
  return null
}

/** Whether a change found what the earlier one left. */
const isFound = ({ after }: PathChange, { before }: PathChange): boolean => after !== null && isSameState(before, after)

/** Whether later changes cancelled each other out: the file is as the first one left it, or as it was before. */
function isBackAgain(all: readonly PathChange[]): boolean {
  const [first, last] = [all[0], all.at(-1)]
  if (!first || !last?.after) return false
  return isSameState(first.before, last.after) || (first.after !== null && isSameState(first.after, last.after))
}
