import type {
  Lease,
  ListRequest,
  NodeRow,
  ReadRange,
  SearchRequest,
  SessionName,
  TrustChange,
} from '@holdfast/core/ports'
import type { LostRecord, SessionId } from '@holdfast/protocol'
import type { ListCursor } from '../../list-cursor.ts'
import type { RankedPage } from '../../search/ranked-page.ts'

/** A record as its row holds it. */
export type StoredRecord = {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly v: number
  readonly by: string | null
  readonly commandId: string | null
  readonly ref: number | null
  readonly body: string
}

/** The columns of a catalogue entry; `meta` is encoded by the caller, once. */
export type StoredEntry = {
  readonly meta: string
  readonly workspace: string
  readonly activeAt: number
  readonly spoken: 0 | 1
  readonly busy: 0 | 1
  readonly pinned: 0 | 1
}

export type AppendRequest = {
  readonly op: 'append'
  readonly session: string
  readonly after: number
  readonly epoch: number
  readonly records: readonly StoredRecord[]
  readonly entry: StoredEntry
  readonly clearDraft: boolean
  readonly blobs: readonly string[]
  readonly trust: readonly TrustChange[]
}

export type CreateRequest = {
  readonly op: 'create'
  readonly session: string
  readonly parent: string | null
  readonly base: number
  readonly owner: string
  readonly handle: string
  readonly key: string | null
  /** The session it was started for; null for a fork too. */
  readonly startedFor: string | null
  readonly records: readonly StoredRecord[]
  readonly entry: StoredEntry
  readonly blobs: readonly string[]
}

/** What the writer worker is asked. Each is one all-or-none step of the group's transaction. */
export type WriteRequest =
  | { readonly op: 'open' }
  | AppendRequest
  | CreateRequest
  | {
      readonly op: 'claim'
      readonly session: string
      readonly owner: string
      readonly takeFrom: string | null
    }
  | { readonly op: 'release'; readonly session: string; readonly owner: string; readonly epoch: number }
  | { readonly op: 'registerNode'; readonly node: NodeRow }
  | { readonly op: 'removeNode'; readonly id: string }
  | {
      readonly op: 'saveDraft'
      readonly session: string
      readonly epoch: number
      readonly step: number
      readonly parts: string
    }
  | {
      readonly op: 'saveSnapshot'
      readonly session: string
      readonly seq: number
      readonly fold: number
      readonly body: string
    }
  | { readonly op: 'removeUnspoken'; readonly owners: readonly string[] }
  | { readonly op: 'trash'; readonly session: string; readonly at: number }
  | { readonly op: 'restore'; readonly session: string }
  | { readonly op: 'purge'; readonly session: string; readonly trashedAt: number | null }
  | { readonly op: 'beginProbe' }
  | { readonly op: 'endProbe' }
  | { readonly op: 'saveCursor'; readonly name: string; readonly pos: number; readonly removals: number }
  | { readonly op: 'followSearch'; readonly forMs: number }
  | { readonly op: 'renewSearch' }

export type WriteAnswers = {
  readonly open: undefined
  readonly append: undefined
  readonly create: undefined
  readonly claim: Lease
  readonly release: undefined
  readonly registerNode: undefined
  readonly removeNode: undefined
  readonly saveDraft: undefined
  readonly saveSnapshot: undefined
  readonly removeUnspoken: number
  readonly trash: undefined
  readonly restore: undefined
  readonly purge: undefined
  readonly beginProbe: undefined
  readonly endProbe: undefined
  readonly saveCursor: undefined
  /** Whether the index has all there is. */
  readonly followSearch: boolean
  readonly renewSearch: undefined
}

/** What the reader worker is asked. */
export type ReadRequest =
  /** Opens the file, and reads no more of it than its tables are called. */
  | { readonly op: 'open' }
  | { readonly op: 'read'; readonly session: string; readonly range: ReadRange }
  | { readonly op: 'readRefs'; readonly session: string; readonly calls: readonly number[] }
  | { readonly op: 'findCommand'; readonly session: string; readonly commandId: string }
  | { readonly op: 'list'; readonly request: ListRequest }
  | { readonly op: 'find'; readonly name: SessionName }
  | { readonly op: 'search'; readonly request: SearchRequest }
  | { readonly op: 'busy' }
  | { readonly op: 'entry'; readonly session: string }
  | { readonly op: 'nodes' }
  | { readonly op: 'loadDraft'; readonly session: string }
  | { readonly op: 'loadSnapshot'; readonly session: string; readonly fold: number }
  | { readonly op: 'workspaceTrust'; readonly workspace: string }
  | { readonly op: 'follow'; readonly name: string; readonly limit: number }
  | { readonly op: 'followed'; readonly after: number; readonly limit: number }
  | { readonly op: 'trashed' }
  | { readonly op: 'blobsInUse'; readonly hashes: readonly string[] }
  | { readonly op: 'refersTo'; readonly session: string; readonly hash: string }
  | { readonly op: 'blobUse'; readonly session: string; readonly after: number }

export type StoredPage = readonly (StoredRecord | LostRecord)[]
export type StoredListed = {
  readonly meta: string
  readonly busy: boolean
  readonly owner: string | null
  readonly trashedAt: number | null
  readonly place: ListCursor
}
export type StoredRow = StoredEntry & {
  readonly head: number
  readonly base: number
  readonly owner: string | null
  readonly trashedAt: number | null
}
export type Trashed = { readonly session: SessionId; readonly at: number }
/** A session as whoever follows the log needs it. */
export type FollowedSession = StoredEntry & {
  /** Counts sessions in the order of their birth. */
  readonly order: number
  readonly session: SessionId
  readonly parent: SessionId | null
  readonly base: number
  readonly head: number
  /** Gone, but for what its forks share. */
  readonly isPurged: boolean
}
/** What came after a stored cursor, in the order it was committed. */
export type FollowPage = {
  readonly records: readonly { readonly session: SessionId; readonly record: StoredRecord | LostRecord }[]
  /** The sessions of these records, as they stand now. */
  readonly sessions: readonly FollowedSession[]
  /** What the cursor becomes once these are kept. */
  readonly pos: number
  /** How often sessions were removed so far: when it changes, what was followed must be compared. */
  readonly removals: number
  /** How often a session was put into the trash or taken out of it so far. */
  readonly trashings: number
}
/** `argsHash` is empty where any arguments are trusted. */
export type StoredTrust = { readonly tool: string; readonly argsHash: string }

/** Bodies travel as text and are parsed once, by whoever asked. */
export type ReadAnswers = {
  readonly open: undefined
  readonly read: StoredPage
  readonly readRefs: StoredPage
  readonly findCommand: StoredRecord | LostRecord | null
  readonly list: { readonly sessions: readonly StoredListed[]; readonly next: string | null }
  readonly find: readonly SessionId[]
  readonly search: RankedPage
  readonly busy: readonly { readonly session: SessionId; readonly owner: string | null }[]
  readonly entry: StoredRow | null
  readonly nodes: readonly NodeRow[]
  readonly loadDraft: { readonly step: number; readonly parts: string } | null
  readonly loadSnapshot: { readonly seq: number; readonly fold: number; readonly body: string } | null
  readonly workspaceTrust: readonly StoredTrust[]
  readonly follow: FollowPage
  readonly followed: readonly FollowedSession[]
  readonly trashed: readonly Trashed[]
  readonly blobsInUse: readonly string[]
  readonly refersTo: boolean
  readonly blobUse: readonly string[]
}
