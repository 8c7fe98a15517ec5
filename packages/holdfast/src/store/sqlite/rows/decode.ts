import type { CatalogueEntry, CatalogueRow, Draft, Listed, ReadRecord } from '@holdfast/core/ports'
import type { BlobHash, LostRecord, Meta, Recorded, StepId, Trust } from '@holdfast/protocol'
import type { StoredDraft, StoredEntry, StoredListed, StoredRecord, StoredRow, StoredTrust } from './messages.ts'

// Holdfast encoded these texts, and a checksum covers each record: they are parsed, not validated.

export function decodeRecord(stored: StoredRecord | LostRecord): ReadRecord {
  if ('lost' in stored) return stored
  const { seq, at, v, by, commandId, body } = stored
  const optional = { ...(by !== null && { by }), ...(commandId !== null && { commandId }) }
  return { seq, at, v, ...optional, event: JSON.parse(body) } as Recorded
}

export const decodeListed = (row: StoredListed): Listed => ({ ...row, meta: JSON.parse(row.meta) as Meta })

export const decodeEntry = (entry: StoredEntry): CatalogueEntry => ({ ...entry, meta: JSON.parse(entry.meta) as Meta })

export const decodeRow = (row: StoredRow): CatalogueRow => ({ ...row, entry: decodeEntry(row.entry) })

/** Reads the entry from the columns of a session row. */
export const readEntry = (row: Record<string, unknown>): StoredEntry => ({
  meta: String(row['meta']),
  spoken: row['spoken'] === 1,
  busy: row['busy'] === 1,
  activeAt: Number(row['active_at']),
})

export const decodeDraft = ({ step, parts }: StoredDraft): Draft => ({
  step: step as StepId,
  parts: JSON.parse(parts) as Draft['parts'],
})

export const decodeTrust = ({ tool, argsHash }: StoredTrust): Trust => ({
  tool,
  scope: 'workspace',
  ...(argsHash !== '' && { argsHash: argsHash as BlobHash }),
})
