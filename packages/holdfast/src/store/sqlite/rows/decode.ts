import type { CatalogueRow, Draft, ReadRecord } from '@holdfast/core/ports'
import type { BlobHash, LostRecord, Meta, Recorded, StepId, Trust } from '@holdfast/protocol'
import type { PlacedListed } from '../../list-cursor.ts'
import type { ReadAnswers, StoredListed, StoredRecord, StoredTrust } from './messages.ts'

// What is decoded here was encoded by us and, for records, vouched for by a checksum: it is parsed, not validated.

export function recordOf(stored: StoredRecord | LostRecord): ReadRecord {
  if ('lost' in stored) return stored
  const { seq, at, v, by, commandId, body } = stored
  const named = { ...(by !== null && { by }), ...(commandId !== null && { commandId }) }
  return { seq, at, v, ...named, event: JSON.parse(body) } as Recorded
}

export const listedOf = ({ meta, busy, owner, trashedAt, place }: StoredListed): PlacedListed => ({
  meta: JSON.parse(meta) as Meta,
  busy,
  owner,
  trashedAt,
  place,
})

export function rowOf(stored: NonNullable<ReadAnswers['entry']>): CatalogueRow {
  const { meta, spoken, busy, activeAt, head, base, owner, trashedAt } = stored
  const entry = { meta: JSON.parse(meta) as Meta, spoken: spoken === 1, busy: busy === 1, activeAt }
  return { entry, head, base, owner, trashedAt }
}

export const draftOf = ({ step, parts }: NonNullable<ReadAnswers['loadDraft']>): Draft => ({
  step: step as StepId,
  parts: JSON.parse(parts) as Draft['parts'],
})

export const trustOf = ({ tool, argsHash }: StoredTrust): Trust => ({
  tool,
  scope: 'workspace',
  ...(argsHash !== '' && { argsHash: argsHash as BlobHash }),
})
