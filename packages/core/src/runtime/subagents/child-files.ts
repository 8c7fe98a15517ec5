import { type FileChange, limits, type SessionId } from '@holdfast/protocol'
import type { Log } from '../../ports/store/log.ts'
import type { SessionState } from '../../session/state.ts'

const types = ['call.settled', 'files.touched', 'settings.changed'] as const

/**
 * Reads what a subagent and those below it did to files, for the log of its parent: each file once from before its first
 * change until after its last one, moves in between on their own. Changes in another folder are not those of the parent.
 */
export async function readChildFiles(
  log: Pick<Log, 'read'>,
  id: SessionId,
  { seq: upTo }: Pick<SessionState, 'seq'>,
): Promise<readonly FileChange[]> {
  const changes = createNetChanges()
  for (let after = 0; after < upTo; ) {
    const range = { after, upTo, limit: limits.pageRecordsMax, charsMax: limits.readCharsMax }
    const page = await log.read(id, { ...range, types })
    for (const record of page) {
      if ('lost' in record) continue
      const { event } = record
      if (event.type === 'settings.changed' && event.workdir !== undefined) return changes.list(id)
      if (event.type !== 'call.settled' && event.type !== 'files.touched') continue
      for (const change of event.files ?? []) changes.add(change)
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = last.seq
  }
  return changes.list(id)
}

/** Joins the changes of each file. */
export function createNetChanges() {
  const all: (FileChange | null)[] = []
  /** The place of the newest change of each path. */
  const newest = new Map<string, number>()

  function push(change: FileChange): void {
    for (const path of [change.path, ...(change.from === undefined ? [] : [change.from])]) newest.set(path, all.length)
    all.push(change)
  }

  return {
    add(next: FileChange): void {
      const index = newest.get(next.path)
      const before = index === undefined ? null : all[index]
      if (index === undefined || !before || before.change === 'moved' || next.change === 'moved') push(next)
      else all[index] = joined(before, next)
    },
    /** Returns the changes, with the subagent that made them. Of very many, the first. */
    list: (id: SessionId): readonly FileChange[] =>
      all
        .flatMap((change) => (change === null ? [] : [change]))
        .slice(0, limits.restoredFilesMax)
        .map(({ contentHash: _, boundary: _boundary, ...change }) => ({ ...change, child: change.child ?? id })),
  }
}

/** Returns two changes of a file as one; null if the file was not there before and is not there after them. */
function joined(first: FileChange, next: FileChange): FileChange | null {
  const wasThere = first.change !== 'created'
  const isThere = next.change !== 'deleted'
  if (!wasThere && !isThere) return null
  const { path, before } = first
  const { after, mode, link, child } = next
  return {
    path,
    change: wasThere ? (isThere ? 'modified' : 'deleted') : 'created',
    ...(before !== undefined && { before }),
    ...(after !== undefined && { after }),
    ...(mode !== undefined && { mode }),
    ...(link !== undefined && { link }),
    ...((first.outside || next.outside) && { outside: true }),
    ...((first.during || next.during) && { during: true }),
    ...(child !== undefined && { child }),
  }
}
