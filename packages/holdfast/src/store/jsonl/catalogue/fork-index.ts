import type { SessionId } from '@holdfast/protocol'
import type { SessionRow } from '../log/session-row.ts'

export type ForkIndex = ReturnType<typeof createForkIndex>

/** Finds the forks of a session without a walk over all rows. */
export function createForkIndex(rows: Iterable<SessionRow>) {
  const byParent = new Map<SessionId, Map<SessionId, SessionRow>>()

  function add(row: SessionRow): void {
    if (row.parent === null) return
    const forks = byParent.get(row.parent) ?? new Map<SessionId, SessionRow>()
    byParent.set(row.parent, forks.set(row.id, row))
  }

  for (const row of rows) add(row)
  return {
    add,
    remove({ id, parent }: SessionRow): void {
      if (parent === null) return
      const forks = byParent.get(parent)
      forks?.delete(id)
      if (forks?.size === 0) byParent.delete(parent)
    },
    of: (parent: SessionId): readonly SessionRow[] => [...(byParent.get(parent)?.values() ?? [])],
  }
}
