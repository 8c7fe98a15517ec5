import type { Listed } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import type { StoreSource } from '../store/store-source.ts'

/** The rows of a list with the status they have by what still lives. Where nobody is busy, nothing is asked or loaded. */
export async function readOwnedStatus(
  rows: readonly Listed[],
  { nodes }: Pick<StoreSource, 'nodes'>,
): Promise<readonly Meta[]> {
  if (!rows.some(({ busy }) => busy)) return rows.map(({ meta }) => meta)
  const { busyOwners, ownedStatus } = await import('@holdfast/core/ports')
  const { isNodeAlive } = await import('../node/node-socket.ts')
  const owners = busyOwners(rows)
  const asked = (await nodes()).filter(({ id }) => owners.has(id))
  const answers = await Promise.all(asked.map(isNodeAlive))
  const living = new Set(asked.flatMap(({ id }, index) => (answers[index] ? [id] : [])))
  return ownedStatus(rows, living)
}
