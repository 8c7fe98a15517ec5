import { limits, type Meta, type NotRemovedReason, type Removal } from '@holdfast/protocol'

type Named = Pick<Meta, 'id' | 'handle' | 'title'>

/** Collects the result of a removal. All sessions are counted; only the first ones removed are named. */
export interface RemovalSummary {
  went(session: Named & Pick<Meta, 'workspace'>): void
  stayed(session: Named, reason: NotRemovedReason): void
  readonly removal: Removal
}

export function createRemovalSummary(dryRun: boolean): RemovalSummary {
  const gone: Removal['gone'] = []
  const stayed: Removal['stayed'] = []
  const workspaces = new Map<string, number>()
  let count = 0
  return {
    went(session) {
      count += 1
      if (gone.length < limits.removalNamesMax) gone.push(nameOf(session))
      const { workspace } = session
      const known = workspaces.get(workspace) ?? 0
      if (known > 0 || workspaces.size < limits.removalNamesMax) workspaces.set(workspace, known + 1)
    },
    stayed(session, reason) {
      stayed.push({ ...nameOf(session), reason })
    },
    get removal() {
      const counts = [...workspaces].map(([workspace, of]) => ({ workspace, count: of }))
      return { count, gone, workspaces: counts, stayed, dryRun }
    },
  }
}

const nameOf = ({ id, handle, title }: Named) => ({ id, handle, title })
