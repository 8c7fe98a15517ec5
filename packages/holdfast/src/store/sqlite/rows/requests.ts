import type {
  CatalogueEntry,
  CatalogueRow,
  Charge,
  Lease,
  Listed,
  ListedSpending,
  ListRequest,
  NewSession,
  NodeRow,
  ReadRange,
  SearchPage,
  SearchRequest,
  SessionLookup,
  SpentOn,
  StoredCap,
  StoredSnapshot,
  StoredToken,
  TrustChange,
} from '@holdfast/core/ports'
import type { BlobHash, CapScope, LostRecord, SessionId } from '@holdfast/protocol'
import type { Result } from '@holdfast/protocol/result'
import type { StoreSession } from '../../read-only-store.ts'
import type { StoredPage, StoredRecord } from '../../stored-record.ts'
import type { PackedPage } from './packed-page.ts'

/** A catalogue entry with its `meta` as text. */
export type StoredEntry = Omit<CatalogueEntry, 'meta'> & { readonly meta: string }
export type StoredListed = Omit<Listed, 'meta'> & { readonly meta: string }
export type StoredDraft = { readonly step: number; readonly parts: string }
/** `argsHash` is empty if the tool is trusted with any arguments. */
export type StoredTrust = { readonly tool: string; readonly argsHash: string }

/** A session as a follower of the log needs it. */
export type FollowedSession = Omit<StoreSession, 'entry' | 'owner' | 'trashedAt'> & { readonly entry: StoredEntry }
/** The records after a stored cursor, in the order of their commits. */
export type FollowPage = {
  readonly records: readonly { readonly session: SessionId; readonly record: StoredRecord | LostRecord }[]
  /** The sessions of these records, as they are now. */
  readonly sessions: readonly FollowedSession[]
  /** The new value of the cursor once these records are copied. */
  readonly pos: number
  /** How many times sessions were removed. If it changes, a follower must compare its copy with the store. */
  readonly removals: number
  /** How many times a session was moved to the trash or restored. */
  readonly trashings: number
}

/** The questions the reader answers. Records travel as text; the thread that asked parses them. */
export interface ReadRequests {
  /** Opens the file and reads its schema. */
  open(): undefined
  read(session: string, range: ReadRange): PackedPage
  readRefs(session: string, calls: readonly number[]): StoredPage
  findCommand(session: string, commandId: string): StoredRecord | LostRecord | null
  commandHash(session: string, commandId: string): string | null
  list(request: ListRequest): { readonly sessions: readonly StoredListed[]; readonly next: string | null }
  find(name: SessionLookup): readonly SessionId[]
  search(request: SearchRequest): SearchPage
  busy(): readonly { readonly session: SessionId; readonly owner: string | null }[]
  entry(session: string): (Omit<CatalogueRow, 'entry'> & { readonly entry: StoredEntry }) | null
  nodes(): readonly NodeRow[]
  loadDraft(session: string): StoredDraft | null
  loadSnapshot(session: string, fold: number): StoredSnapshot | null
  workspaceTrust(workspace: string): readonly StoredTrust[]
  tokens(): readonly StoredToken[]
  spentOn(day: string, of: Pick<Charge, 'payer' | 'workspace'>): SpentOn
  listSpending(day: string, limit: number): ListedSpending
  caps(): readonly StoredCap[]
  blobsInUse(hashes: readonly string[]): readonly BlobHash[]
  refersTo(session: string, hash: string): boolean
  /** Returns a bounded page of the records after the cursor of this name. */
  follow(name: string, limit: number): FollowPage
  /** Returns sessions in the order of creation, including purged ones whose records forks share. */
  followedSessions(after: number, limit: number): readonly FollowedSession[]
  trashed(): readonly { readonly session: SessionId; readonly at: number }[]
  blobUse(session: string, after: number): readonly BlobHash[]
}

/** An append crosses threads as lists: cloning the property names of objects takes twice as long. */
export type RecordColumns = readonly [
  seq: number,
  at: string,
  type: string,
  v: number,
  by: string | null,
  commandId: string | null,
  ref: number | null,
  body: string,
]
type EntryColumns = readonly [
  meta: string,
  workspace: string,
  activeAt: number,
  spoken: 0 | 1,
  busy: 0 | 1,
  pinned: 0 | 1,
]

export type SessionToCreate = Omit<NewSession, 'records' | 'entry'> & {
  readonly handle: string
  readonly key: string | null
  /** The session it was started for; null for a fork. */
  readonly startedFor: string | null
  readonly records: readonly RecordColumns[]
  readonly entry: EntryColumns
}

/** The changes the writer makes. Each one is an all-or-nothing step in the transaction of its group. */
export interface WriteRequests {
  /** Creates or upgrades the file if needed, then opens it. */
  open(): Result<undefined>
  append(
    session: string,
    after: number,
    epoch: number,
    entry: EntryColumns,
    records: readonly RecordColumns[],
    clearDraft: boolean,
    blobs: readonly string[],
    trust: readonly TrustChange[],
    charge: Charge | null,
    commandHash: string | null,
  ): Result<undefined>
  create(session: SessionToCreate): Result<undefined>
  claim(session: string, owner: string, takeFrom: string | null): Result<Lease>
  release(session: string, owner: string, epoch: number): Result<undefined>
  registerNode(node: NodeRow): Result<undefined>
  removeNode(id: string): Result<undefined>
  saveDraft(session: string, epoch: number, draft: StoredDraft): Result<undefined>
  saveSnapshot(session: string, snapshot: StoredSnapshot): Result<undefined>
  addToken(token: StoredToken): Result<undefined>
  removeToken(id: string): Result<boolean>
  touchToken(id: string, at: string): Result<undefined>
  addCharge(charge: Charge): Result<undefined>
  setCap(cap: StoredCap): Result<undefined>
  removeCap(scope: CapScope): Result<boolean>
  removeUnspoken(owners: readonly string[]): Result<number>
  trash(session: string, at: number): Result<undefined>
  restore(session: string): Result<undefined>
  /** With `trashedAt`, only if the session has been in the trash since that moment. */
  purge(session: string, trashedAt: number | null): Result<undefined>
  beginProbe(): Result<undefined>
  endProbe(): Result<undefined>
  saveCursor(name: string, pos: number, removals: number): Result<undefined>
  /** Indexes records for so many milliseconds. Returns whether the word index is complete. */
  extendIndex(forMs: number): Result<boolean>
  /** Empties the word index; `extendIndex` fills it again. */
  resetIndex(): Result<undefined>
}

/** One call of a method, as it crosses threads. */
export type CallOf<Table> = {
  [Name in keyof Table]: Table[Name] extends (...args: infer Args extends readonly unknown[]) => unknown
    ? readonly [name: Name, ...args: Args]
    : never
}[keyof Table]
export type Question = CallOf<ReadRequests>
export type StoreChange = CallOf<WriteRequests>

/** Runs a call. Its type pairs the name with the arguments, so nothing is checked here. */
export function runCall(methods: ReadRequests | WriteRequests, [name, ...args]: Question | StoreChange): unknown {
  return (methods as unknown as Record<string, (...args: readonly unknown[]) => unknown>)[name]?.(...args)
}
