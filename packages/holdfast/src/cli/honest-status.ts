import type { NodeRow } from '@holdfast/core/ports'
import type { Meta, Result } from '@holdfast/protocol'

export type Owned = { readonly meta: Meta; readonly busy: boolean; readonly owner: string | null }

/** Does not believe the dead: what says busy and has no living owner is shown as interrupted. */
export async function honestStatus(
  rows: readonly Owned[],
  nodes: () => Result<readonly NodeRow[]>,
): Promise<Result<readonly Meta[]>> {
  const owners = new Set(rows.flatMap(({ busy, owner }) => (busy && owner !== null ? [owner] : [])))
  const living = owners.size === 0 ? ok(new Set<string>()) : await livingOf(owners, nodes)
  if (!living.ok) return living
  return ok(
    rows.map(
      ({ meta, busy, owner }): Meta =>
        busy && (owner === null || !living.value.has(owner)) ? { ...meta, status: 'interrupted' } : meta,
    ),
  )
}

async function livingOf(
  owners: ReadonlySet<string>,
  nodes: () => Result<readonly NodeRow[]>,
): Promise<Result<ReadonlySet<string>>> {
  const known = nodes()
  if (!known.ok) return known
  const { isNodeAlive } = await import('../node/node-socket.ts') // a list in which nobody is busy needs no sockets
  const asked = known.value.filter(({ id }) => owners.has(id))
  const answers = await Promise.all(asked.map(isNodeAlive))
  return ok(new Set(asked.flatMap(({ id }, index) => (answers[index] ? [id] : []))))
}

const ok = <Value>(value: Value): Result<Value> => ({ ok: true, value })
