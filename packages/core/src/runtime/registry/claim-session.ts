import { fault, ok, type Result, refuse, type SessionId } from '@holdfast/protocol'
import type { Lease } from '../../ports/lease.ts'
import type { NodeDeps } from '../node-deps.ts'

export type Claimed = {
  readonly lease: Lease
  /** The dead node it was taken from; null when it was free. */
  readonly takenFrom: string | null
}

/** The right to append to a session: free, or taken from an owner that no longer answers. */
export async function claimSession({ store, node, isAlive }: NodeDeps, id: SessionId): Promise<Result<Claimed>> {
  const claim = async (takenFrom: string | null): Promise<Result<Claimed>> => {
    const lease = await store.claim(id, node.id, takenFrom)
    return lease.ok ? ok({ lease: lease.value, takenFrom }) : lease
  }
  const free = await claim(null)
  if (free.ok || free.fault.code !== 'session_locked') return free
  const owner = free.fault.details?.['node']
  if (typeof owner !== 'string') return free
  const row = (await store.nodes()).find((one) => one.id === owner)
  if (row && (await isAlive(row))) {
    const message = `Session ${id} is open in another process (${owner}). Use that one, or end it first.`
    return refuse(fault('session_locked', message, { node: owner, since: row.startedAt }))
  }
  return claim(owner)
}
