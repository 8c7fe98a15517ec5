import {
  addSpent,
  blobsOf,
  type ClientId,
  type CommandId,
  dayOf,
  type Event,
  eventVersion,
  type Payer,
  type Recorded,
  type Seq,
  type SessionId,
  spentOf,
} from '@holdfast/protocol'
import type { Append, EncodedRecord, TrustChange } from '../../ports/store/log.ts'
import type { Charge } from '../../ports/store/spending.ts'
import { type Folded, fold } from './load-session.ts'

type Batch = {
  readonly after: Seq
  readonly atMs: number
  readonly events: readonly Event[]
  readonly commandId: CommandId | null
  readonly by: ClientId | null
}

/** A batch, and who pays for the model calls in it. */
type PaidBatch = Omit<Batch, 'after'> & { readonly payer: Payer }

/** Numbers the events of a batch and encodes each once: the same text goes to the disk and to every subscriber. */
export function encodeRecords({ after, atMs, events, commandId, by }: Batch): readonly EncodedRecord[] {
  const at = new Date(atMs).toISOString()
  const records: EncodedRecord[] = []
  for (const event of events) {
    const isFirst = records.length === 0
    const record: Recorded = {
      seq: after + 1 + records.length,
      at,
      v: eventVersion[event.type],
      ...(by !== null && { by }),
      ...(commandId !== null && isFirst && { commandId }),
      event,
    }
    records.push({ record, body: JSON.stringify(event) })
  }
  return records
}

/** Encodes a batch and folds it, ready to be appended at the head of the session. */
export function encodeAppend(
  { session, epoch, folded }: { readonly session: SessionId; readonly epoch: number; readonly folded: Folded },
  { payer, ...batch }: PaidBatch,
): { readonly append: Append; readonly next: Folded } {
  const { seq: after } = folded.state
  const { events } = batch
  const records = encodeRecords({ after, ...batch })
  let next = folded
  let clearDraft = false
  for (const { record } of records) {
    next = fold(next, session, record)
    clearDraft ||= record.event.type === 'step.ended'
  }
  const append = {
    session,
    after,
    epoch,
    records,
    entry: next.row.entry,
    clearDraft,
    blobs: events.flatMap(blobsOf),
    trust: events.flatMap(trustChangesOf),
    charge: chargeFor(events, {
      day: dayOf(new Date(batch.atMs).toISOString()),
      payer,
      workspace: next.row.entry.meta.workspace,
    }),
  }
  return { append, next }
}

/** Returns what the model calls of a batch have cost; undefined without any. */
function chargeFor(events: readonly Event[], of: Pick<Charge, 'day' | 'payer' | 'workspace'>): Charge | undefined {
  const spent = events.map(spentOf).filter((one) => one !== null)
  return spent.length === 0 ? undefined : { ...of, ...spent.reduce(addSpent) }
}

/** Returns what an event changes in the trust of its workspace. */
function trustChangesOf(event: Event): readonly TrustChange[] {
  if (event.type === 'trust.revoked') return [{ type: 'revoked', tool: event.tool }]
  if (event.type !== 'trust.granted' || event.scope !== 'workspace') return []
  const { tool, scope, argsHash } = event
  return [{ type: 'granted', trust: { tool, scope, ...(argsHash !== undefined && { argsHash }) } }]
}
