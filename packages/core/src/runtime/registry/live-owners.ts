import type { Leases, NodeRow } from '../../ports/lease.ts'

/** Those of `owners` that still answer. With nobody to ask, the nodes are not even looked up. */
export async function findLiveOwners(
  owners: ReadonlySet<string>,
  { nodes }: Pick<Leases, 'nodes'>,
  isAlive: (node: NodeRow) => Promise<boolean>,
): Promise<ReadonlySet<string>> {
  if (owners.size === 0) return owners
  const asked = (await nodes()).filter(({ id }) => owners.has(id))
  const answers = await Promise.all(asked.map(isAlive))
  return new Set(asked.flatMap(({ id }, index) => (answers[index] ? [id] : [])))
}
