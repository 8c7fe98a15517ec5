import { fault, ok, type Result, refuse, type Seq, type SessionId } from '@holdfast/protocol'
import type { RuntimeDeps } from '../dependencies.ts'

/**
 * Finds the records that say what a call did to files, oldest first: the one that settled it, or later ones if it was aborted
 * or went on in the background. Refused: message_not_found.
 */
export async function findCallChanges(
  store: Pick<RuntimeDeps['store'], 'readRefs'>,
  id: SessionId,
  call: Seq,
): Promise<Result<readonly [Seq, ...Seq[]]>> {
  const records = await store.readRefs(id, [call])
  const find = (type: 'call.settled' | 'files.touched') =>
    records.flatMap((record) => ('lost' in record || record.event.type !== type ? [] : [record.seq]))
  const touched = find('files.touched')
  const [first, ...others] = (touched.length > 0 ? touched : find('call.settled')).sort((one, other) => one - other)
  if (first !== undefined) return ok([first, ...others])
  return refuse(fault('message_not_found', `This session has no call ${call} that has ended.`, { call }))
}
