import type { SearchRequest } from '@holdfast/core/ports'
import {
  type BlobHash,
  done,
  type Fault,
  fault,
  HoldfastError,
  ok,
  orThrow,
  type Result,
  type Seq,
  type SessionId,
} from '@holdfast/protocol'
import type { PlacedStore } from '../list-cursor.ts'
import type { RankedPage } from '../search/ranked-page.ts'
import { storageFault } from '../storage-fault.ts'
import { type PackedWrite, packWrite } from './rows/append-message.ts'
import { draftOf, listedOf, recordOf, rowOf, trustOf } from './rows/decode.ts'
import { encodeAppend, encodeNew } from './rows/encode.ts'
import type {
  FollowedSession,
  FollowPage,
  ReadAnswers,
  ReadRequest,
  StoredPage,
  Trashed,
  WriteAnswers,
  WriteRequest,
} from './rows/messages.ts'
import { searchDamagedReason } from './search/table.ts'
import { createWorkerLink } from './worker/worker-link.ts'
import type { WriterOptions } from './write/writer.ts'

export type SqliteStoreOptions = WriterOptions

const followBeforeSearchMs = 10
/** Others' appends wait for no longer than this. */
const rebuildSliceMs = 20

/** A log of all sessions to follow, by whoever keeps a copy of it: from a cursor that the store keeps. */
export interface FollowedLog {
  /** What came after the cursor of this name, a bounded page. */
  follow(name: string, limit: number): Promise<FollowPage>
  /** Moves the cursor, unless something was removed since that page was read. */
  saveCursor(name: string, page: Pick<FollowPage, 'pos' | 'removals'>): Promise<void>
  /** All sessions, purged ones that others share included, in the order of their birth from `after` on. */
  sessions(after: number, limit: number): Promise<readonly FollowedSession[]>
  /** A session's own records, without its lineage when `after` is its base or more. */
  records(session: SessionId, after: Seq, limit: number): Promise<StoredPage>
  /** What is in the trash. */
  trashed(): Promise<readonly Trashed[]>
  /** The blobs that a session's records after `after` refer to. */
  blobUse(session: SessionId, after: Seq): Promise<readonly BlobHash[]>
}

export interface SqliteStore extends PlacedStore {
  readonly followed: FollowedLog
  /** Throws the word index away and makes it anew from the log. */
  rebuildSearch(): Promise<Result<void>>
}

/**
 * Opens the store in a file, or makes it. No SQLite runs on this thread: a writer worker commits in groups, a reader
 * worker fetches pages. Refused: not_a_store, store_too_new, storage_error; the file is then as it was.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Result<SqliteStore>> {
  const { path } = options
  const whenDead = (why: string): Fault => storageFault(path, 'io', { error: why })
  const writer = createWorkerLink<PackedWrite>({ script: scriptOf('writer-worker'), options, whenDead })
  const reader = createWorkerLink<ReadRequest>({ script: scriptOf('reader-worker'), options: { path }, whenDead })

  const write = <Op extends WriteRequest['op']>(request: Extract<WriteRequest, { readonly op: Op }>) =>
    writer.ask(packWrite(request)) as Promise<Result<WriteAnswers[Op]>> // the worker answers by the same table
  const read = async <Op extends ReadRequest['op']>(request: Extract<ReadRequest, { readonly op: Op }>) =>
    orThrow((await reader.ask(request)) as Result<ReadAnswers[Op]>) // as above

  const close = async (): Promise<void> => {
    // The reader first: the last connection to close folds the write-ahead log into the file, and only a writer may.
    await reader.close()
    await writer.close()
  }

  reader.warm() // it opens the file when it is first asked, which is after the writer has
  const opened = await write<'open'>({ op: 'open' })
  if (!opened.ok) {
    await close()
    return opened
  }

  async function search(request: SearchRequest): Promise<Result<RankedPage>> {
    // What was appended before is found, unless the index is far behind. A disk that takes no words still gives answers.
    await write<'followSearch'>({ op: 'followSearch', forMs: followBeforeSearchMs })
    const ask = () => reader.ask({ op: 'search', request }) as Promise<Result<RankedPage>> // as above
    const found = await ask()
    if (found.ok || found.fault.details?.['reason'] !== searchDamagedReason) return found
    const rebuilt = await rebuildSearch()
    return rebuilt.ok ? ask() : rebuilt
  }

  async function rebuildSearch(): Promise<Result<void>> {
    const renewed = await write<'renewSearch'>({ op: 'renewSearch' })
    if (!renewed.ok) return renewed
    for (;;) {
      const followed = await write<'followSearch'>({ op: 'followSearch', forMs: rebuildSliceMs })
      if (!followed.ok) return followed
      if (followed.value) return done
    }
  }

  // `orThrow` where the port has no refusal to answer with: what the disk does to those is an exception.
  const store: SqliteStore = {
    create: (session) => write<'create'>(encodeNew(session)),
    append: (append) => write<'append'>(encodeAppend(append)),
    read: async (session, range) => (await read<'read'>({ op: 'read', session, range })).map(recordOf),
    readRefs: async (session, calls) => (await read<'readRefs'>({ op: 'readRefs', session, calls })).map(recordOf),
    async findCommand(session, commandId) {
      const found = await read<'findCommand'>({ op: 'findCommand', session, commandId })
      const record = found === null ? null : recordOf(found)
      if (record === null || !('lost' in record)) return record
      const message = `Command ${commandId} was admitted at seq ${record.seq}, but its record is damaged.`
      throw new HoldfastError(fault('log_damaged', message, { session, seq: record.seq }))
    },

    async list(request) {
      const { sessions, next } = await read<'list'>({ op: 'list', request })
      return { sessions: sessions.map(listedOf), next }
    },
    find: (name) => read<'find'>({ op: 'find', name }),
    search,
    rebuildSearch,
    busy: () => read<'busy'>({ op: 'busy' }),
    async entry(session) {
      const row = await read<'entry'>({ op: 'entry', session })
      return row === null ? null : rowOf(row)
    },
    removeUnspoken: async (owners) => orThrow(await write<'removeUnspoken'>({ op: 'removeUnspoken', owners })),

    trash: (session, at) => write<'trash'>({ op: 'trash', session, at }),
    restore: (session) => write<'restore'>({ op: 'restore', session }),
    purge: (session, options) => write<'purge'>({ op: 'purge', session, trashedAt: options?.trashedAt ?? null }),
    blobsInUse: async () => async (hashes) =>
      new Set((await read<'blobsInUse'>({ op: 'blobsInUse', hashes })) as BlobHash[]), // of those
    refersTo: (session, hash) => read<'refersTo'>({ op: 'refersTo', session, hash }),

    registerNode: async (node) => orThrow(await write<'registerNode'>({ op: 'registerNode', node })),
    nodes: () => read<'nodes'>({ op: 'nodes' }),
    removeNode: async (id) => orThrow(await write<'removeNode'>({ op: 'removeNode', id })),
    claim: (session, owner, takeFrom) => write<'claim'>({ op: 'claim', session, owner, takeFrom }),
    release: async (session, owner, epoch) => orThrow(await write<'release'>({ op: 'release', session, owner, epoch })),

    saveDraft: (session, epoch, { step, parts }) =>
      write<'saveDraft'>({ op: 'saveDraft', session, epoch, step, parts: JSON.stringify(parts) }),
    async loadDraft(session) {
      const row = await read<'loadDraft'>({ op: 'loadDraft', session })
      return row === null ? null : draftOf(row)
    },
    async saveSnapshot(session, snapshot) {
      // A fault is dropped: without a snapshot the next load takes longer, and nothing else.
      await write<'saveSnapshot'>({ op: 'saveSnapshot', session, ...snapshot })
    },
    loadSnapshot: (session, fold) => read<'loadSnapshot'>({ op: 'loadSnapshot', session, fold }),
    workspaceTrust: async (workspace) =>
      (await read<'workspaceTrust'>({ op: 'workspaceTrust', workspace })).map(trustOf),
    async probe() {
      const written = await write<'beginProbe'>({ op: 'beginProbe' })
      return written.ok ? write<'endProbe'>({ op: 'endProbe' }) : written
    },
    followed: {
      follow: (name, limit) => read<'follow'>({ op: 'follow', name, limit }),
      saveCursor: async (name, { pos, removals }) =>
        orThrow(await write<'saveCursor'>({ op: 'saveCursor', name, pos, removals })),
      sessions: (after, limit) => read<'followed'>({ op: 'followed', after, limit }),
      records: (session, after, limit) => read<'read'>({ op: 'read', session, range: { after, limit } }),
      trashed: () => read<'trashed'>({ op: 'trashed' }),
      blobUse: async (session, after) =>
        (await read<'blobUse'>({ op: 'blobUse', session, after })) as readonly BlobHash[], // the column takes nothing else
    },
    close,
  }
  return ok(store)
}

/** The worker beside this file, which is TypeScript in the repo and JavaScript once built. */
function scriptOf(name: 'writer-worker' | 'reader-worker'): URL {
  return new URL(import.meta.url.endsWith('.ts') ? `./worker/${name}.ts` : `./worker/${name}.js`, import.meta.url)
}
