import type { EncodedRecord, NodeRow, Store } from '@holdfast/core/ports'
import { eventVersion, orThrow, type Recorded } from '@holdfast/protocol'
import type { SessionRepair } from '../../store/store-admin.ts'
import { removeNodeSocket } from '../../system/node/node-socket.ts'

/** Who owns a session while it is mended. It has no socket, so whoever comes later may take over. */
const doctorOwner = 'node_doctor'

/**
 * Sets a session's row to what its log says, records which of its records are given up, and frees it from an owner that
 * is gone. All of it through the store's own door.
 */
export async function repairSession(
  { session, entry, lost, owner }: SessionRepair,
  store: Store,
  nowMs: number,
): Promise<void> {
  const row = await store.entry(session)
  if (row === null) return
  if (row.trashedAt !== null) orThrow(await store.restore(session)) // nobody may write in the trash
  const { epoch, head } = orThrow(await store.claim(session, doctorOwner, owner ?? row.owner))
  const records = lost.length === 0 ? [] : [repaired(head + 1, lost, nowMs)]
  const change = { records, entry, clearDraft: false, blobs: [], trust: [] }
  orThrow(await store.append({ session, after: head, epoch, ...change }))
  await store.release(session, doctorOwner, epoch)
  if (row.trashedAt !== null) orThrow(await store.trash(session, row.trashedAt))
}

function repaired(seq: number, lost: SessionRepair['lost'], nowMs: number): EncodedRecord {
  const event: Recorded['event'] = { type: 'log.repaired', lost: [...lost] }
  const record = { seq, at: new Date(nowMs).toISOString(), v: eventVersion['log.repaired'], event }
  return { record, body: JSON.stringify(event) }
}

/** Forgets a process that is gone, and the socket it left behind. */
export async function repairNode({ id, address }: NodeRow, store: Store): Promise<void> {
  await store.removeNode(id)
  await removeNodeSocket(address)
}
