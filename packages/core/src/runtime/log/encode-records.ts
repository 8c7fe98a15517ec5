import {
  type BlobHash,
  blobsOf,
  type ClientId,
  type CommandId,
  type Event,
  eventVersion,
  type Seq,
} from '@holdfast/protocol'
import type { EncodedRecord, TrustChange } from '../../ports/log.ts'

export type Batch = {
  readonly after: Seq
  readonly atMs: number
  readonly events: readonly Event[]
  readonly commandId: CommandId | null
  readonly by: ClientId | null
}

/** Numbers and encodes a batch, once: the same text goes to the disk and to every subscriber. */
export function encodeRecords({ after, atMs, events, commandId, by }: Batch): readonly EncodedRecord[] {
  const at = new Date(atMs).toISOString()
  return events.map((event, index) => ({
    record: {
      seq: after + 1 + index,
      at,
      v: eventVersion[event.type],
      ...(by !== null && { by }),
      ...(commandId !== null && index === 0 && { commandId }),
      event,
    },
    body: JSON.stringify(event),
  }))
}

/** The blobs a batch refers to. */
export const blobsIn = (events: readonly Event[]): readonly BlobHash[] => events.flatMap(blobsOf)

/** What an event changes in the trust of its workspace. */
export function trustChangesOf(event: Event): readonly TrustChange[] {
  if (event.type === 'trust.revoked') return [{ type: 'revoked', tool: event.tool }]
  if (event.type !== 'trust.granted' || event.scope !== 'workspace') return []
  const { tool, scope, argsHash } = event
  return [{ type: 'granted', trust: { tool, scope, ...(argsHash !== undefined && { argsHash }) } }]
}
