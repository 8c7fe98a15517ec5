import type { CatalogueRow, Draft, ReadRecord } from '@holdfast/core/ports'
import type { BlobHash, LostRecord, Meta, Recorded, StepId, Trust } from '@holdfast/protocol'
import type { PlacedListed } from '../../list-cursor.ts'
import type { StoredDraft, StoredListed, StoredRecord, StoredRow, StoredTrust } from './messages.ts'

// Holdfast encoded these texts, and a checksum covers each record: they are parsed, not validated.

export function decodeRecord(stored: StoredRecord | LostRecord): ReadRecord {
  if ('lost' in stored) return stored
  const { seq, at, v, by, commandId, body } = stored
  const optional = { ...(by !== null && { by }), ...(commandId !== null && { commandId }) }
  return { seq, at, v, ...optional, event: JSON.parse(body) } as Recorded
}

export const decodeListed = ({ meta, ...listed }: StoredListed): PlacedListed => ({
  meta: JSON.parse(meta) as Meta,
  ...listed,
})

export function decodeRow({ meta, spoken, busy, activeAt, head, base, owner, trashedAt }: StoredRow): CatalogueRow {
  const entry = { meta: JSON.parse(meta) as Meta, spoken: spoken === 1, busy: busy === 1, activeAt }
  return { entry, head, base, owner, trashedAt }
}

export const decodeDraft = ({ step, parts }: StoredDraft): Draft => ({
  step: step as StepId,
  parts: JSON.parse(parts) as Draft['parts'],
})

export const decodeTrust = ({ tool, argsHash }: StoredTrust): Trust => ({
  tool,
  scope: 'workspace',
  ...(argsHash !== '' && { argsHash: argsHash as BlobHash }),
})
