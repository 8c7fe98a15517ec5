import type { Append, CatalogueEntry } from '@holdfast/core/ports'
import type { Recorded } from '@holdfast/protocol'
import type { encodeAppend } from '../../../packages/holdfast/src/store/postgres/write/encode-changes.ts'

/** A batch as the append queue sends it to the database. */
export type SentAppend = ReturnType<typeof encodeAppend>

/** Returns the checksums of the records in a batch. */
export const checksumsOf = ({ records }: SentAppend): readonly number[] =>
  records.map(([, , , , , , , crc]) => Number(crc))

/** Reads a batch as the function `append` of the database does. */
export function decodeAppend(sent: SentAppend): Append {
  const { session, after, epoch, clearDraft, blobs, trust, charge, commandHash, entry } = sent
  const [meta, , activeAt, spoken, busy] = entry
  const records = sent.records.map(([seq, at, , v, by, commandId, , , body]) => {
    const optional = { ...(by !== null && { by }), ...(commandId !== null && { commandId }) }
    const record = { seq, at, v, ...optional, event: JSON.parse(String(body)) } as Recorded // as it was encoded
    return { record, body: String(body) }
  })
  return {
    session,
    after,
    epoch,
    clearDraft,
    records,
    charge,
    commandHash,
    entry: { meta: JSON.parse(String(meta)), activeAt, spoken, busy } as CatalogueEntry, // as it was encoded
    blobs: blobs ?? [],
    trust: trust ?? [],
  }
}
