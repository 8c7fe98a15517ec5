import type { Listed } from '@holdfast/core/ports'
import type { Meta } from '@holdfast/protocol'
import type { ReadOnlyStore } from '../../store/read-only-store.ts'

/** The rows of a list with the status they have by what still lives. Where nobody is busy, nothing is asked or loaded. */
export async function readOwnedStatus(
  rows: readonly Listed[],
  source: Pick<ReadOnlyStore, 'nodes'>,
): Promise<readonly Meta[]> {
  if (!rows.some(({ busy }) => busy)) return rows.map(({ meta }) => meta)
  const { busyOwners, ownedStatus } = await import('@holdfast/core/ports')
  const { findLiveNodes } = await import('../../system/node/live-nodes.ts')
  const living = await findLiveNodes(source, busyOwners(rows))
  return ownedStatus(rows, new Set(living.map(({ id }) => id)))
}
