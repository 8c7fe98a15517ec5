import {
  escapeLine,
  isSameState,
  linkMoves,
  type RefusedFile,
  type RestoredFile,
  type Seq,
  traceMoves,
} from '@holdfast/protocol'
import type { WantedFile } from '../../ports/workspace-files.ts'
import { settleDuring } from './during-changes.ts'
import { linkContents, linkNames, listNames } from './link-paths.ts'
import type { PathChange } from './path-change.ts'

/** A file to put back. */
export type PlannedFile = WantedFile & {
  /** The path that the session moved it to, from where it comes back. */
  readonly movedFrom?: string | undefined
}

/** Which files to put back, and which not. */
export type RestorePlan = {
  readonly wanted: readonly PlannedFile[]
  readonly refused: readonly RefusedFile[]
  /** Files that an interrupted restore has put back as this one would. */
  readonly finished: readonly RestoredFile[]
  /** The paths that belong together: all of a list are put back, or none. */
  readonly together: readonly (readonly string[])[]
}

type PlanOptions = {
  /** Only what these records changed; other changes of the same files since the first are not undone with them. */
  readonly only?: readonly Seq[] | undefined
  /** The record to go back to. */
  readonly after?: Seq | undefined
  /** Only these paths. */
  readonly paths?: readonly string[] | undefined
  /** Whether it undoes a restore, whose files a person has named. */
  readonly isUndo?: boolean | undefined
}

/**
 * Plans to put back what was there before the given changes, oldest first: per path the oldest content. A path is refused
 * if that content was not kept, or if anybody else changed the file between two of the changes. Both paths of a move are
 * put back, or none of them: otherwise the file would be lost. So are a file and what is in a folder of its name. What was
 * found at the end of a command in the background is put back only where a person names it: others may have changed it.
 */
export function planRestore(
  changes: readonly PathChange[],
  { only, after = 0, paths, isUndo = false }: PlanOptions,
): RestorePlan {
  const undone = only === undefined ? changes : changes.filter(({ seq }) => only.includes(seq))
  const linked = [...undone, ...linkNames(undone)]
  const moved = linkMoves(linked)
  const together = linkMoves([...linked, ...linkContents(undone)])
  const movedTo = new Map([...traceMoves(undone)].map(([path, from]) => [from, path]))
  const asked = paths && new Set(withLinked(paths, moved))
  const byPath = Map.groupBy(changes, ({ path }) => path)
  const namesakes = listNames(together)
  const wanted: PlannedFile[] = []
  const refused: RefusedFile[] = []
  const finished: RestoredFile[] = []
  for (const [path, recorded] of byPath) {
    const all = only === undefined ? settleDuring(recorded, after) : recorded
    const [first, last] = [all[0], all.at(-1)]
    if (!first || !last || (asked && !asked.has(path))) continue
    if (only !== undefined && !only.includes(first.seq)) {
      const isMixed = all.some(({ seq, isDuring }) => isDuring && only.includes(seq))
      if (isMixed) refused.push({ path, why: changedMeanwhile })
      continue
    }
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
      if (!isNamed && all.some(({ isDuring }) => isDuring)) {
        refused.push({ path, why: changedDuring })
        continue
      }
      const movedFrom = movedTo.get(path)
      const clears = target.type === 'absent' ? [] : namesakes(path)
      wanted.push({
        path,
        expected: last.after,
        target,
        ...(isNamed && { isNamed }),
        ...(movedFrom !== undefined && { movedFrom }),
        ...(clears.length > 0 && { clears }),
      })
    }
  }
  const known = [...(asked ?? [])].filter((path) => !byPath.has(path))
  const others = known.map((path) => ({ path, why: 'this session did not change it' }))
  return { ...keepTogether(wanted, [...refused, ...others], together), finished, together }
}

const withLinked = (paths: readonly string[], together: RestorePlan['together']): readonly string[] => [
  ...paths,
  ...together.filter((linked) => linked.some((path) => paths.includes(path))).flat(),
]

/** Leaves out files that belong together with one that is refused, and says why. */
export function keepTogether<Item extends { readonly path: string }>(
  wanted: readonly Item[],
  refused: readonly RefusedFile[],
  together: RestorePlan['together'],
): { readonly wanted: readonly Item[]; readonly refused: readonly RefusedFile[] } {
  const whyOf = new Map<string, string>()
  for (const linked of together) {
    const cause = refused.find(({ path }) => linked.includes(path))
    if (cause) for (const path of linked) whyOf.set(path, leftWith(cause))
  }
  const left = wanted.filter(({ path }) => whyOf.has(path))
  return {
    wanted: wanted.filter(({ path }) => !whyOf.has(path)),
    refused: [...refused, ...left.map(({ path }) => ({ path, why: whyOf.get(path) ?? '' }))],
  }
}

/** Says why a file stays that belongs together with a refused one. */
export const leftWith = ({ path, why }: RefusedFile): string =>
  `it belongs together with ${escapeLine(path)}, which stays: ${why}`

const changedMeanwhile = 'another call changed it while this one ran in the background; go back to a turn or message'

const changedDuring = 'changed while a background command ran; name it to put it back'

const unknownNow = ({ isOpen }: PathChange) =>
  isOpen ? 'changed by others since' : 'what the session left there was not recorded'

/** Returns what an interrupted restore did to a path, if it put there what was before `first`. */
function finishedBy({ isOpen, path, before, after, movedFrom }: PathChange, first: PathChange): RestoredFile | null {
  const { before: target } = first
  if (
    !isOpen ||
    before.type === 'not_kept' ||
    target.type === 'not_kept' ||
    after === null ||
    !isSameState(target, after)
  )
    return null
  return { path, before, after: target, ...(movedFrom !== undefined && { movedFrom }) }
}

function whyNot(all: readonly PathChange[], only: readonly Seq[] | undefined): string | null {
  const isLater = only !== undefined && all.some(({ seq }) => !only.includes(seq))
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
