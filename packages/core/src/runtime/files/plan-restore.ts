import type { BeforeImage, RefusedFile, Seq } from '@holdfast/protocol'
import type { LeftState, WantedFile } from '../../ports/workspace-files.ts'
import type { PathChange } from './changed-files.ts'

/** Which files to put back, and which not. */
export type RestorePlan = { readonly wanted: readonly WantedFile[]; readonly refused: readonly RefusedFile[] }

type PlanOptions = {
  /** Only what this record changed; later changes of the same files are not undone with it. */
  readonly only?: Seq | undefined
  /** Only these paths. */
  readonly paths?: readonly string[] | undefined
}

/**
 * Plans to put back what was there before the given changes, oldest first: per path the oldest content. A path is refused
 * if that content was not kept, or if anybody else changed the file between two of the changes.
 */
export function planRestore(changes: readonly PathChange[], { only, paths }: PlanOptions): RestorePlan {
  const asked = paths && new Set(paths)
  const byPath = Map.groupBy(changes, ({ path }) => path)
  const wanted: WantedFile[] = []
  const refused: RefusedFile[] = []
  for (const [path, all] of byPath) {
    const [first, last] = [all[0], all.at(-1)]
    if (!first || !last || (asked && !asked.has(path)) || (only !== undefined && first.seq !== only)) continue
    const { before: target } = first
    const why = whyNot(all, only)
    if (why !== null || target.type === 'not_kept' || last.after === null)
      refused.push({ path, why: why ?? (target.type === 'not_kept' ? `not kept: ${target.why}` : unknownNow) })
    else if (!isMatch(last.after, target)) wanted.push({ path, expected: last.after, target })
  }
  const known = [...(asked ?? [])].filter((path) => !byPath.has(path))
  return { wanted, refused: [...refused, ...known.map((path) => ({ path, why: 'this session did not change it' }))] }
}

const unknownNow = 'what the session left there was not recorded'

function whyNot(all: readonly PathChange[], only: Seq | undefined): string | null {
  if (only !== undefined && all.some(({ seq }) => seq > only)) return 'this session changed it again since'
  for (const [index, change] of all.entries()) {
    const earlier = all[index - 1]
    if (earlier && !isMatch(earlier.after, change.before)) return 'others changed it between changes of this session'
  }
  return null
}

/** Whether what one change left is what the next one found. */
function isMatch(left: LeftState | null, found: BeforeImage): boolean {
  if (left === null || left.type !== found.type) return false
  if (left.type === 'file')
    return found.type === 'file' && left.hash === found.hash && (left.mode === null || left.mode === found.mode)
  return left.type !== 'link' || (found.type === 'link' && left.target === found.target)
}
