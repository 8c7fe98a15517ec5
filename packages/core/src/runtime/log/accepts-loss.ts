import type { Seq } from '@holdfast/protocol'
import type { ReadRecord } from '../../ports/log.ts'

/** Whether a record says that a person accepted the loss of another. */
export const acceptsLoss = (record: ReadRecord, lost: Seq): boolean =>
  !('lost' in record) && record.event.type === 'log.repaired' && record.event.lost.includes(lost)
