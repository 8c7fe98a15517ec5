import { isSameState, type Seq } from '@holdfast/protocol'
import type { WorkspaceFiles } from '../../ports/workspace-files.ts'
import type { PathChange } from './path-change.ts'

/** What one record says about paths. */
export type RecordedChanges = {
  readonly changes: readonly PathChange[]
  /** The start of the restore that this record ends. */
  readonly ends?: Seq | undefined
}

/**
 * Finds out which started restores changed a file, from what the next change of that file found there. The end of a
 * restore lists what it did. What nothing tells yet stays open, at the end of the list.
 */
export function settleStarted(records: readonly RecordedChanges[]): readonly PathChange[] {
  const settled: PathChange[] = []
  const open = new Map<string, PathChange>()
  for (const { changes, ends } of records) {
    for (const [path, { seq }] of open) if (seq === ends) open.delete(path)
    for (const change of changes) {
      const earlier = open.get(change.path)
      if (earlier?.after && isSameState(change.before, earlier.after)) settled.push({ ...earlier, isOpen: undefined })
      open.delete(change.path)
      if (change.isOpen) open.set(change.path, change)
      else settled.push(change)
    }
  }
  return [...settled, ...open.values()]
}

/**
 * Looks at the files of an interrupted restore. One that is as before was not changed; one that is neither as before nor
 * as wanted was changed by others, and what the restore left there is not known.
 */
export async function lookAtOpen(
  files: Pick<WorkspaceFiles, 'look'>,
  workdir: string,
  changes: readonly PathChange[],
): Promise<readonly PathChange[]> {
  const seen: PathChange[] = []
  for (const change of changes) {
    const now = change.isOpen ? await files.look(workdir, change.path) : null
    if (!change.isOpen || (now && change.after && isSameState(now.state, change.after))) seen.push(change)
    else if (!now || !isSameState(change.before, now.state)) seen.push({ ...change, after: null })
  }
  return seen
}
