import type { ListedBranch } from '@holdfast/protocol'
import { counted, formatAge } from '../../render/tables.ts'
import { justify, type StyledLine, shownLine, span, styles } from '../term/lines.ts'
import type { FullView, ViewHost } from './full-view.ts'
import { createListView } from './list-view.ts'

/** A line of the tree: the current line, or a branch that leaves it or another branch. */
export type TreeRow = { readonly branch: ListedBranch | null; readonly depth: number; readonly isLast: boolean }

/**
 * Returns the branches as a tree. A branch hangs on the line that it leaves: the current one, or an earlier branch that
 * leaves the current line at the same message and goes further.
 */
export function branchTree(branches: readonly ListedBranch[]): readonly TreeRow[] {
  const shown = branches.filter(({ hidden }) => !hidden)
  const groups = [...Map.groupBy(shown, ({ differsAt }) => differsAt ?? -1)].sort(([one], [other]) => one - other)
  const rows: TreeRow[] = [{ branch: null, depth: 0, isLast: false }]
  for (const [index, [, group]] of groups.entries()) {
    const byLength = group.toSorted((one, other) => other.messages - one.messages)
    for (const [nth, branch] of byLength.entries())
      rows.push({
        branch,
        depth: nth === 0 ? 1 : 2,
        isLast: nth === 0 ? index === groups.length - 1 : nth === byLength.length - 1,
      })
  }
  return rows
}

type BranchesDeps = {
  readonly branches: readonly ListedBranch[]
  readonly current: string | null
  readonly now: number
  readonly onChoose: (name: string) => void
  readonly host: ViewHost
}

/** Shows the branches of the session as a tree, to switch to one. */
export function createBranchesView({ branches, current, now, onChoose, host }: BranchesDeps): FullView {
  const rows = branchTree(branches)
  return createListView<TreeRow>(
    {
      title: () => 'Branches',
      items: () => rows,
      row: (row, width) => treeRow(row, current, now, width),
      textOf: ({ branch }) => branch?.name ?? 'current line',
      onChoose: ({ branch }) => (branch ? onChoose(branch.name) : host.close()),
      hints: '↑↓ choose   Enter switches; the current line is saved   Esc back',
    },
    host,
  )
}

function treeRow({ branch, depth, isLast }: TreeRow, current: string | null, now: number, width: number): StyledLine {
  if (!branch)
    return [
      span('● ', styles.good),
      span(current === null ? 'the current line' : `${shownLine(current)}, the current line`, styles.bold),
    ]
  const stem = `${'│ '.repeat(depth - 1)}${isLast ? '└─ ' : '├─ '}`
  const at = branch.differsAt === null ? '' : `leaves at message ${branch.differsAt}, `
  const about = `${at}${counted(branch.turns, 'turn')}, ${counted(branch.messages, 'message')}  ${formatAge(now - Date.parse(branch.at)).padStart(4)}`
  return justify([span(stem, styles.dim), span(shownLine(branch.name))], [span(about, styles.dim)], width)
}
