import type {
  Catalogue,
  CatalogueEntry,
  Charge,
  Drafts,
  Leases,
  Log,
  NodeRow,
  PermissionRows,
  ReadRecord,
  Search,
  Snapshots,
  StoredCap,
  StoredSnapshot,
  StoredToken,
} from '@holdfast/core/ports'
import type { Seq, SessionId, Stats, Trust } from '@holdfast/protocol'

/** A session in a store, listed or not. */
export type StoreSession = {
  readonly id: SessionId
  /** Counts sessions in the order of creation. */
  readonly order: number
  readonly parent: SessionId | null
  readonly base: Seq
  readonly head: Seq
  readonly owner: string | null
  /** In milliseconds; null if it is not in the trash. */
  readonly trashedAt: number | null
  /** Its row; null if it is purged or the row is unreadable. */
  readonly entry: CatalogueEntry | null
  readonly isPurged: boolean
  /** The tenant it belongs to; absent for one of the server itself. */
  readonly tenant?: string | undefined
  /** The label of its folder, if nodes serve it by one. */
  readonly label?: string | undefined
}

/** The number of a session's records of one type on one UTC day, such as `2026-01-31`. */
export type TypeCount = { readonly type: string; readonly day: string; readonly count: number }

export type WorkspaceTrust = { readonly workspace: string; readonly trust: Trust }

/** A store opened to read, to copy or to check: takes no lock and repairs nothing. */
export interface ReadOnlyStore
  extends Pick<Log, 'read' | 'readRefs'>,
    Pick<Catalogue, 'list' | 'find' | 'entry'>,
    Pick<Search, 'search'>,
    Pick<Leases, 'nodes'>,
    Pick<Drafts, 'loadDraft'>,
    Pick<Snapshots, 'loadSnapshot'> {
  /** Returns a bounded page of all sessions after `after`, in the order of creation. */
  sessions(after: number, limit: number): Promise<readonly StoreSession[]>
  /** Returns one session, or null if the store has no data of it. */
  session(session: SessionId): Promise<StoreSession | null>
  /** Returns a session's own records, without its parents'; of a purged session, those that its forks share. */
  ownRecords(session: SessionId, after: Seq, limit: number): Promise<readonly ReadRecord[]>
  /** Returns only records of these types. A lost record may be included, because its type is unknown. */
  ownRecordsOf(id: SessionId, types: ReadonlySet<string>, after: Seq, limit: number): Promise<readonly ReadRecord[]>
  /** Counts a session's own records by type and day. Lost records may be missing. */
  countOwn(session: SessionId): Promise<readonly TypeCount[]>
  trusts(): Promise<readonly WorkspaceTrust[]>
  tokens(): Promise<readonly StoredToken[]>
  /** Returns all that was spent, by day, payer and workspace. */
  charges(): Promise<readonly Charge[]>
  caps(): Promise<readonly StoredCap[]>
  /** Returns the permission rules, in a store that has some. */
  rules?: PermissionRows['rules']
  /** Returns the snapshot of any fold version, or `damaged` if its checksum does not match. */
  snapshotOf(session: SessionId): Promise<StoredSnapshot | 'damaged' | null>
  /** Returns the nodes that are alive, in a store that knows it; otherwise their sockets have to be asked. */
  liveNodes?(): Promise<readonly NodeRow[]>
  /** Returns how large it is, in a store whose size is not that of files here. */
  measure?(): Promise<StoreSizes>
  close(): Promise<void>
}

/** How many bytes a store uses: for records, for what is derived from them, and for blobs. */
export type StoreSizes = Omit<Stats['store'], 'records'>

const pageSize = 500

/** Yields all sessions, page by page. */
export async function* everySession(source: Pick<ReadOnlyStore, 'sessions'>): AsyncGenerator<StoreSession> {
  for (let after = 0, isLast = false; !isLast; ) {
    const page = await source.sessions(after, pageSize)
    yield* page
    after = page.at(-1)?.order ?? after
    isLast = page.length < pageSize
  }
}

/** Counts the records of all sessions, by their heads. */
export async function countRecords(source: Pick<ReadOnlyStore, 'sessions'>): Promise<number> {
  let count = 0
  for await (const { base, head } of everySession(source)) count += head - base
  return count
}

/** How much of a store was read. */
export type ReadProgress = { readonly records: number; readonly total: number }

/** Yields a session's own records, page by page. */
export async function* everyRecord(
  source: Pick<ReadOnlyStore, 'ownRecords'>,
  { id, base, head }: Pick<StoreSession, 'id' | 'base' | 'head'>,
): AsyncGenerator<ReadRecord> {
  for (let after = base; after < head; ) {
    const page = await source.ownRecords(id, after, Math.min(pageSize, head - after))
    if (page.length === 0) return
    yield* page
    after = page.at(-1)?.seq ?? head
  }
}

/** Yields a session's own records of these types, page by page. */
export async function* everyRecordOf(
  source: Pick<ReadOnlyStore, 'ownRecordsOf'>,
  { id, base }: Pick<StoreSession, 'id' | 'base'>,
  types: ReadonlySet<string>,
): AsyncGenerator<ReadRecord> {
  for (let after = base, isLast = false; !isLast; ) {
    const page = await source.ownRecordsOf(id, types, after, pageSize)
    yield* page
    after = page.at(-1)?.seq ?? after
    isLast = page.length < pageSize
  }
}
