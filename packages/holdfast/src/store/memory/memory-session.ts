import type { CatalogueEntry, Draft, EncodedRecord, ReadRange, StoredSnapshot } from '@holdfast/core/ports'
import { type BlobHash, invariant, type Recorded, refOf, type Seq, type SessionId } from '@holdfast/protocol'

export type MemorySession = {
  readonly id: SessionId
  /** Numbers sessions in the order of their creation. */
  readonly order: number
  readonly parent: MemorySession | null
  readonly base: Seq
  readonly records: Recorded[]
  /** The blobs that its records refer to, each with the first seq that does. */
  readonly blobs: BlobUse[]
  /** The hashes of its commands, by their ids. */
  readonly commandHashes: Map<string, string>
  head: Seq
  epoch: number
  owner: string | null
  entry: CatalogueEntry
  draft: Draft | null
  snapshot: StoredSnapshot | null
  trashedAt: number | null
  /** Never changes. */
  readonly tenant?: string | undefined
}

type BlobUse = { readonly hash: BlobHash; readonly seq: Seq }

export const createBlobUses = (seq: Seq, blobs: readonly BlobHash[]): BlobUse[] => blobs.map((hash) => ({ hash, seq }))

/** Returns the blobs that a session refers to, also through the records it shares with its parent. */
export function listBlobs({ blobs, parent, base }: MemorySession): readonly BlobHash[] {
  const own = blobs.map(({ hash }) => hash)
  return parent === null
    ? own
    : [...own, ...listBlobs({ ...parent, blobs: parent.blobs.filter(({ seq }) => seq <= base) })]
}

/** Decodes records from their bodies, so that they share nothing with the caller's objects. */
export function decodeRecords(records: readonly EncodedRecord[], after: Seq): Recorded[] {
  return records.map(({ record, body }, index) => {
    invariant(record.seq === after + index + 1, `a record at seq ${record.seq} does not follow ${after + index}`)
    return { ...record, event: JSON.parse(body) }
  })
}

export function readRange(session: MemorySession | undefined, range: ReadRange): readonly Recorded[] {
  const { after, upTo = Number.MAX_SAFE_INTEGER, limit, charsMax, newestFirst, types } = range
  const inRange = readLineage(session).filter(
    ({ seq, event }) => seq > after && seq <= upTo && (types === undefined || types.includes(event.type)),
  )
  const page = (newestFirst === true ? inRange.toReversed() : inRange).slice(0, limit)
  return structuredClone(charsMax === undefined ? page : page.slice(0, countWithin(page, charsMax)))
}

/** Returns how many records it takes to reach `charsMax`. */
function countWithin(records: readonly Recorded[], charsMax: number): number {
  let chars = 0
  const last = records.findIndex(({ event }) => {
    chars += JSON.stringify(event).length
    return chars >= charsMax
  })
  return last === -1 ? records.length : last + 1
}

export function readRefs(session: MemorySession | undefined, calls: readonly Seq[]): readonly Recorded[] {
  const wanted = new Set<Seq | null>(calls)
  return structuredClone(readLineage(session).filter(({ event }) => refOf(event) !== null && wanted.has(refOf(event))))
}

function readLineage(session: MemorySession | undefined): readonly Recorded[] {
  if (session === undefined) return []
  const inherited = session.parent === null ? [] : readLineage(session.parent)
  return [...inherited.filter(({ seq }) => seq <= session.base), ...session.records]
}
