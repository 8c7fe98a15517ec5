import type {
  Catalogue,
  CatalogueEntry,
  Drafts,
  Leases,
  Log,
  ReadRecord,
  Search,
  Snapshots,
  StoredSnapshot,
} from '@holdfast/core/ports'
import type { Seq, SessionId, Trust } from '@holdfast/protocol'

/** A session as it lies in a store, whether people find it there or not. */
export type KeptSession = {
  readonly id: SessionId
  /** Counts sessions in the order of their birth. */
  readonly order: number
  readonly parent: SessionId | null
  readonly base: Seq
  readonly head: Seq
  readonly owner: string | null
  /** In milliseconds, where it is in the trash. */
  readonly trashedAt: number | null
  /** Its row; null where only what its forks share is left, and where the row cannot be read. */
  readonly entry: CatalogueEntry | null
  readonly isPurged: boolean
}

/** How many records of a type a session has of a day, in UTC: `2026-01-31`. */
export type TypeCount = { readonly type: string; readonly day: string; readonly count: number }

export type WorkspaceTrust = { readonly workspace: string; readonly trust: Trust }

/**
 * A store that is looked at and never touched: no lock is held against others, nothing is mended on the way. For
 * commands that read and exit, and for whoever copies or checks a whole store.
 */
export interface ReadOnlyStore
  extends Pick<Log, 'read' | 'readRefs'>,
    Pick<Catalogue, 'list' | 'find' | 'entry'>,
    Pick<Search, 'search'>,
    Pick<Leases, 'nodes'>,
    Pick<Drafts, 'loadDraft'>,
    Pick<Snapshots, 'loadSnapshot'> {
  /** Every session from `after` on, in the order of their birth, a bounded page. */
  sessions(after: number, limit: number): Promise<readonly KeptSession[]>
  /** One session, wherever it is in that order; null when the store holds nothing of it. */
  kept(session: SessionId): Promise<KeptSession | null>
  /** The records of a session alone, without its lineage; of one that is gone, what its forks share. */
  ownRecords(session: SessionId, after: Seq, limit: number): Promise<readonly ReadRecord[]>
  /** Those of these types alone. One that is lost may have been of any, and may be among them. */
  ownRecordsOf(
    session: SessionId,
    types: ReadonlySet<string>,
    after: Seq,
    limit: number,
  ): Promise<readonly ReadRecord[]>
  /** How many of them there are of each type and day. One that is lost may not be counted. */
  countOwn(session: SessionId): Promise<readonly TypeCount[]>
  trusts(): Promise<readonly WorkspaceTrust[]>
  /** The stored fold whatever number it has; `damaged` where there is one that does not fit its checksum. */
  snapshotOf(session: SessionId): Promise<StoredSnapshot | 'damaged' | null>
  close(): Promise<void>
}

const pageSessions = 500

/** All of them, one bounded page after another. */
export async function* everySession(source: Pick<ReadOnlyStore, 'sessions'>): AsyncGenerator<KeptSession> {
  for (let after = 0; ; ) {
    const page = await source.sessions(after, pageSessions)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageSessions) return
    after = last.order
  }
}

const pageRecords = 500

/** A session's own records, page by page. */
export async function* everyRecord(
  source: Pick<ReadOnlyStore, 'ownRecords'>,
  { id, base, head }: Pick<KeptSession, 'id' | 'base' | 'head'>,
): AsyncGenerator<ReadRecord> {
  for (let after = base; after < head; ) {
    const page = await source.ownRecords(id, after, Math.min(pageRecords, head - after))
    if (page.length === 0) return
    yield* page
    after = page.at(-1)?.seq ?? head
  }
}

/** A session's own records of these types, page by page. */
export async function* everyRecordOf(
  source: Pick<ReadOnlyStore, 'ownRecordsOf'>,
  { id, base }: Pick<KeptSession, 'id' | 'base'>,
  types: ReadonlySet<string>,
): AsyncGenerator<ReadRecord> {
  for (let after = base; ; ) {
    const page = await source.ownRecordsOf(id, types, after, pageRecords)
    yield* page
    const last = page.at(-1)
    if (last === undefined || page.length < pageRecords) return
    after = last.seq
  }
}
