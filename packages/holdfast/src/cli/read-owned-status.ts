import type { Listed } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import { ok, type Result } from '@holdfast/protocol/result'
import type { SqliteReader } from '../store/sqlite/sqlite-reader.ts'

/** The rows of a list with the status they have by what still lives. Where nobody is busy, nothing is asked or loaded. */
export async function readOwnedStatus(
  rows: readonly Listed[],
  { nodes }: Pick<SqliteReader, 'nodes'>,
): Promise<Result<readonly Meta[]>> {
  if (!rows.some(({ busy }) => busy)) return ok(rows.map(({ meta }) => meta))
  const known = nodes()
  if (!known.ok) return known
  const { busyOwners, ownedStatus } = await import('@holdfast/core/ports')
  const { isNodeAlive } = await import('../node/node-socket.ts')
  const owners = busyOwners(rows)
  const asked = known.value.filter(({ id }) => owners.has(id))
  const answers = await Promise.all(asked.map(isNodeAlive))
  const living = new Set(asked.flatMap(({ id }, index) => (answers[index] ? [id] : [])))
  return ok(ownedStatus(rows, living))
}
