import type { Store } from '@holdfast/core/ports'
import { done, type Fault, ok, orThrow, type Result, refuse } from '@holdfast/protocol'
import { findBundle } from '../../system/start-thread.ts'
import { isLostFile, isPossibleLoss, storageFault } from '../storage-fault.ts'
import type { StoredPage } from '../stored-record.ts'
import { createFileIdentity } from './files/held-files.ts'
import { createReadMethods } from './read/read-methods.ts'
import { encodeAppend, encodeNew } from './rows/encode-changes.ts'
import { unpackPage } from './rows/packed-page.ts'
import type { FollowPage, Question, ReadRequests, StoreChange, WriteRequests } from './rows/requests.ts'
import { isSearchIndexFault } from './search/index-tables.ts'
import { createReading } from './worker/reading.ts'
import { createWorkerLink, type WorkerPort } from './worker/worker-link.ts'
import type { WriterOptions } from './write/writer.ts'

/** The log of all sessions, for a mirror: read from a cursor that the store saves. */
export type FollowedLog = {
  readonly [Name in 'follow' | 'followedSessions' | 'trashed' | 'blobUse']: (
    ...args: Parameters<ReadRequests[Name]>
  ) => Promise<ReturnType<ReadRequests[Name]>>
} & {
  read(...args: Parameters<ReadRequests['read']>): Promise<StoredPage>
  /** Moves the cursor, unless a session was removed after that page was read. */
  saveCursor(name: string, page: Pick<FollowPage, 'pos' | 'removals'>): Promise<void>
}

export interface SqliteStore extends Store {
  readonly followed: FollowedLog
  /** Lets another thread write to the store, see `createPortWriter`. */
  openWriterPort(): { readonly given: WorkerPort; close(): void }
  /** Deletes the word index and rebuilds it from the log. */
  rebuildSearch(): Promise<Result<void>>
}

/** The longest time that an append waits for a rebuild of the word index. */
const rebuildSliceMs = 20

/**
 * Opens or creates a store, with SQLite in two workers. The writer starts at once, the reader when it is needed; the file
 * waits until `checked` resolves.
 * Refused: not_a_store, store_too_new, storage_error.
 */
export async function openSqliteStore(
  options: WriterOptions,
  checked?: Promise<unknown>,
): Promise<Result<SqliteStore>> {
  const { path } = options
  const faultOfDeath = (why: string): Fault => storageFault(path, 'io', { error: why })
  const writer = createWorkerLink<StoreChange | Question>({ script: workerScript('writer'), options, faultOfDeath })
  const identity = createFileIdentity()
  const reader = createWorkerLink<Question>({
    script: workerScript('reader'),
    options: { path, identity: identity.shared },
    faultOfDeath,
  })
  const reading = createReading({ writer, reader })

  // Each worker answers by its table; TypeScript cannot follow that through the link.
  const write = <Name extends keyof WriteRequests>(name: Name, ...args: Parameters<WriteRequests[Name]>) =>
    writer.ask([name, ...args] as unknown as StoreChange) as Promise<ReturnType<WriteRequests[Name]>>
  const askOnce = <Name extends keyof ReadRequests>(name: Name, ...args: Parameters<ReadRequests[Name]>) =>
    reading.ask([name, ...args] as unknown as Question) as Promise<Result<ReturnType<ReadRequests[Name]>>>
  /** Why the writer has given up the file. It never uses it again, so every read is refused with the same words. */
  let lost: Fault | null = null
  const ask: typeof askOnce = async (name, ...args) => {
    if (lost !== null) return refuse(lost)
    const found = await askOnce(name, ...args)
    if (found.ok || !isPossibleLoss(found.fault)) return found
    const checked = await write('extendIndex', 0) // the writer checks the files, and saves what only its connection has
    if (!checked.ok && isLostFile(checked.fault)) {
      // Without a saved copy it may be the reader that has the log; the writer says next time whether it is lost.
      if (checked.fault.details?.['saved'] !== undefined) lost = checked.fault
      return checked
    }
    identity.note(path) // the writer may have saved the records to a new file in its place
    return askOnce(name, ...args)
  }
  const read = async <Name extends keyof ReadRequests>(name: Name, ...args: Parameters<ReadRequests[Name]>) =>
    orThrow(await ask(name, ...args))

  const close = async (): Promise<void> => {
    // The reader first: the last connection to close moves the write-ahead log into the file, and only a writer may.
    await reading.close()
    await writer.close()
  }

  writer.start()
  try {
    await checked
  } catch (cause) {
    await close()
    throw cause
  }
  const opened = await write('open')
  if (!opened.ok) {
    await close()
    return opened
  }
  identity.note(path)

  async function rebuildSearch(): Promise<Result<void>> {
    const reset = await write('resetIndex')
    if (!reset.ok) return reset
    for (;;) {
      const extended = await write('extendIndex', rebuildSliceMs)
      if (!extended.ok) return extended
      if (extended.value) return done
    }
  }

  return ok({
    ...createReadMethods(ask),
    create: (session) => writer.ask(encodeNew(session)) as Promise<Result<undefined>>,
    append: (append) => writer.ask(encodeAppend(append)) as Promise<Result<undefined>>,

    async search(request) {
      const found = await ask('search', request)
      if (found.ok || !isSearchIndexFault(found.fault)) return found
      const rebuilt = await rebuildSearch()
      return rebuilt.ok ? ask('search', request) : rebuilt
    },
    rebuildSearch,
    openWriterPort: writer.openPort,

    removeUnspoken: async (owners) => orThrow(await write('removeUnspoken', owners)),
    trash: (session, at) => write('trash', session, at),
    restore: (session) => write('restore', session),
    purge: (session, options) => write('purge', session, options?.trashedAt ?? null),

    registerNode: async (node) => orThrow(await write('registerNode', node)),
    removeNode: async (id) => orThrow(await write('removeNode', id)),
    claim: (session, owner, takeFrom) => write('claim', session, owner, takeFrom),
    release: async (session, owner, epoch) => orThrow(await write('release', session, owner, epoch)),

    addToken: (token) => write('addToken', token),
    removeToken: (id) => write('removeToken', id),
    touchToken: (id, at) => write('touchToken', id, at),
    addCharge: (charge) => write('addCharge', charge),
    setCap: (cap) => write('setCap', cap),
    removeCap: (scope) => write('removeCap', scope),

    saveDraft: (session, epoch, { step, parts }) =>
      write('saveDraft', session, epoch, { step, parts: JSON.stringify(parts) }),
    async saveSnapshot(session, snapshot) {
      await write('saveSnapshot', session, snapshot) // ignores a fault: without a snapshot the next load only takes longer
    },
    async probe() {
      const written = await write('beginProbe')
      return written.ok ? write('endProbe') : written
    },
    followed: {
      read: async (...args) => unpackPage(await read('read', ...args)),
      follow: (...args) => read('follow', ...args),
      followedSessions: (...args) => read('followedSessions', ...args),
      trashed: () => read('trashed'),
      blobUse: (...args) => read('blobUse', ...args),
      saveCursor: async (name, { pos, removals }) => orThrow(await write('saveCursor', name, pos, removals)),
    },
    close,
  })
}

const workerScript = (name: 'writer' | 'reader'): URL => findBundle(`./worker/${name}-worker`, import.meta.url)
