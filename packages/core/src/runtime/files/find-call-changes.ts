import { fault, ok, type Result, refuse, type Seq, type SessionId } from '@holdfast/protocol'
import type { RuntimeDeps } from '../dependencies.ts'

/**
 * Finds the record that says what a call did to files: the one that settled it, or a later one if it was aborted. Refused:
 * message_not_found.
 */
export async function findCallChanges(
  store: Pick<RuntimeDeps['store'], 'readRefs'>,
  id: SessionId,
  call: Seq,
): Promise<Result<Seq>> {
  const records = await store.readRefs(id, [call])
  const find = (type: 'call.settled' | 'files.touched') =>
    records.find((record) => !('lost' in record) && record.event.type === type)
  const found = find('files.touched') ?? find('call.settled')
  if (found) return ok(found.seq)
  return refuse(fault('message_not_found', `This session has no call ${call} that has ended.`, { call }))
}
