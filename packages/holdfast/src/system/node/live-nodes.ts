import type { Leases, NodeRow } from '@holdfast/core/ports'
import { isNodeAlive } from './node-socket.ts'

/** The nodes of a store that answer now; of `among` alone where it is given. */
export async function findLiveNodes(
  { nodes }: Pick<Leases, 'nodes'>,
  among?: ReadonlySet<string>,
): Promise<readonly NodeRow[]> {
  const asked = (await nodes()).filter(({ id }) => among?.has(id) ?? true)
  const answers = await Promise.all(asked.map(isNodeAlive))
  return asked.filter((_, index) => answers[index] === true)
}
