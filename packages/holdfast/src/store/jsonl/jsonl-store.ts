import { resolve } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import type { PlacedStore } from '../list-cursor.ts'
import { faultOf } from '../storage-fault.ts'
import { openCatalogueFile, readCatalogue } from './catalogue/catalogue-file.ts'
import { createForks } from './catalogue/fork-index.ts'
import { type EntryOfLog, lastOrder, rebuildRows, takeKnownRows } from './catalogue/rebuild-rows.ts'
import { createSessionNames } from './catalogue/session-names.ts'
import { openTrashFile } from './catalogue/trash-file.ts'
import { type DirectoryLock, lockDirectory } from './files/directory-lock.ts'
import { createDirectorySync } from './files/directory-sync.ts'
import { createDraftFiles } from './files/draft-files.ts'
import { createPlaces, refusalOfDirectory, surveyDirectory } from './files/layout.ts'
import { openNodeFile } from './files/node-file.ts'
import { createSnapshotFiles } from './files/snapshot-files.ts'
import { openTrustFile } from './files/trust-file.ts'
import { createBlobUses } from './log/blob-uses.ts'
import { createLogReader } from './log/log-reader.ts'
import { createOpenLogs } from './log/open-logs.ts'
import type { SessionRow } from './log/session-row.ts'
import { createStoreMethods } from './store-methods.ts'
import { createAppender } from './write/append.ts'
import { createCreator } from './write/create-session.ts'
import { createRemover } from './write/remove-session.ts'
import { createSessionQueue } from './write/session-queue.ts'
import { createTrasher } from './write/trash-session.ts'

export type JsonlStoreOptions = {
  readonly directory: string
  readonly now: () => number
  readonly entryOf: EntryOfLog
  readonly onProblem: OnProblem
  /** How many logs are kept ready at once. */
  readonly openMax?: number | undefined
}

const openMaxDefault = 256

/**
 * Opens a directory of plain files as a store, or makes it: one `<id>.jsonl` for each session is the truth, all else can
 * be deleted (and what was in the trash is then listed again). It belongs to one process at a time. Refused: session_locked, not_a_store, store_too_new, storage_error.
 */
export async function openJsonlStore(options: JsonlStoreOptions): Promise<Result<PlacedStore>> {
  const places = createPlaces(resolve(options.directory))
  let lock: DirectoryLock | null = null
  try {
    const refusal = await refusalOfDirectory(places)
    if (refusal !== null) return refuse(refusal)
    const locked = await lockDirectory(places.directory, options.now(), 'store')
    if (!locked.ok) return locked
    lock = locked.value
    return ok(await openLocked(options, lock))
  } catch (error) {
    lock?.release()
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, places.directory))
  }
}

async function openLocked(options: JsonlStoreOptions, lock: DirectoryLock): Promise<PlacedStore> {
  const { directory, entryOf, onProblem, openMax = openMaxDefault } = options
  const places = createPlaces(resolve(directory))
  const found = await surveyDirectory(places)
  const rows = new Map<SessionId, SessionRow>()
  const changedBefore = new Set<SessionRow>()
  let changed = (row: SessionRow): void => void changedBefore.add(row)
  const turns = createSessionQueue((session, group) => appendGroup(session, group))
  const logs = createOpenLogs({ places, openMax, isIdle: turns.isIdle, changed: (row) => changed(row), onProblem })

  const known = await readCatalogue(places.catalogue)
  const unknown = takeKnownRows(rows, known.rows, found)
  const made = await rebuildRows({ places, rows, logs, onProblem }, unknown)
  const names = createSessionNames()
  for (const row of rows.values()) names.add(row)
  const trash = await openTrashFile(places.trash, onProblem)
  const trasher = createTrasher(rows, trash)

  const trusts = await openTrustFile(places.trust, async ({ session, seq, crc }) => {
    const row = rows.get(session)
    return row !== undefined && (await (await logs.of(row)).crcAt(seq)) === crc
  })
  const nodes = await openNodeFile(places.nodes)
  const reader = createLogReader(rows, logs)
  const [drafts, snapshots] = [createDraftFiles(places), createSnapshotFiles(places)]
  for (const row of made) {
    if (row.isShared) continue
    const { id, head, base, owner, entry, trashedAt } = row
    await snapshots.dropAhead(id, head)
    const source = {
      read: reader.read,
      loadSnapshot: async (_: SessionId, fold: number) => {
        const snapshot = await snapshots.load(id)
        return snapshot?.fold === fold ? snapshot : null
      },
      entry: async () => ({ entry, head, base, owner, trashedAt }),
    }
    // What cannot be folded keeps what else is known of it, and is told when someone opens it.
    const folded = (await entryOf(source, id).catch(() => null)) ?? entry
    // What was said may be what was lost: a damaged log is never taken for one that nobody spoke in.
    row.entry = { ...folded, spoken: folded.spoken || entry.spoken }
  }

  const catalogue = await openCatalogueFile(places.catalogue, known, rows)
  changed = catalogue.changed
  for (const row of changedBefore) changed(row)
  const syncNames = createDirectorySync(places.directory)
  const forks = createForks(rows.values())
  let born = lastOrder(rows.values())
  const nextOrder = () => {
    born += 1
    return born
  }
  const appendGroup = createAppender({ directory: places.directory, rows, logs, catalogue, drafts, trusts })
  const creator = createCreator({ places, rows, forks, names, logs, catalogue, trash, syncNames, nextOrder })
  const remover = createRemover({ places, rows, forks, names, logs, catalogue, trash, syncNames })

  async function close(): Promise<void> {
    try {
      await Promise.all([turns.settled(), creator.settled(), trusts.settled()])
      await Promise.all([logs.close(), catalogue.close(), trash.close()])
    } finally {
      lock.release()
    }
  }
  const parts = { directory: places.directory, rows, names, turns, logs, reader, creator, remover, catalogue }
  const blobUses = createBlobUses(rows, places, remover.isLeaving)
  return createStoreMethods({ ...parts, trasher, blobUses, drafts, snapshots, trusts, nodes, close })
}
