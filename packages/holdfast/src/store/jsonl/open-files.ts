import { resolve } from 'node:path'
import type { OnProblem } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import type { FileLock } from '../../system/files/file-lock.ts'
import { openCatalogueFile, readCatalogue } from './catalogue/catalogue-file.ts'
import { createForkIndex } from './catalogue/fork-index.ts'
import { addKnownRows, type EntryOfLog, lastOrder, rebuildRows } from './catalogue/rebuild-rows.ts'
import { createSessionNames } from './catalogue/session-names.ts'
import { openTrashFile } from './catalogue/trash-file.ts'
import { openNodeFile } from './files/directory-lock.ts'
import { createJsonlPaths, prepareDirectory } from './files/layout.ts'
import { createDirectorySync } from './files/replace-file.ts'
import { dropSnapshotAhead, loadSnapshot } from './files/side-files.ts'
import { openSpendingFile } from './files/spending-file.ts'
import { openTokenFile } from './files/token-file.ts'
import { openTrustFile } from './files/trust-file.ts'
import { createOpenLogs } from './log/open-logs.ts'
import { findRow, type SessionRow, toStoredEntry } from './log/session-row.ts'
import { createBlobUses } from './read/blob-uses.ts'
import { createLogReader } from './read/log-reader.ts'
import { createSpendingLedger } from './read/spending-ledger.ts'
import { createGroupAppender } from './write/append.ts'
import { createSessionCreator, createSessionRemover } from './write/session-files.ts'
import { createSessionQueue } from './write/session-queue.ts'

export type JsonlStoreOptions = {
  readonly directory: string
  readonly now: () => number
  readonly entryOf: EntryOfLog
  readonly onProblem: OnProblem
  /** The number of logs that stay open at once. */
  readonly openMax?: number | undefined
}

const openMaxDefault = 256

/** Opens the files of the store and builds what reads and writes them. The lock is held. */
export async function openFiles(options: JsonlStoreOptions, lock: FileLock) {
  const { entryOf, onProblem, openMax = openMaxDefault } = options
  const paths = createJsonlPaths(resolve(options.directory))
  const found = await prepareDirectory(paths)
  const rows = new Map<SessionId, SessionRow>()
  // Rows can change before the catalogue file is open.
  const changedEarly = new Set<SessionRow>()
  let changed = (row: SessionRow): void => void changedEarly.add(row)
  const queue = createSessionQueue((session, group) => appendGroup(session, group))
  const logs = createOpenLogs({ paths, openMax, isIdle: queue.isIdle, changed: (row) => changed(row), onProblem })
  const reader = createLogReader(rows, logs)

  const stored = await readCatalogue(paths.catalogue)
  const rebuilt = await rebuildRows({ paths, rows, logs, onProblem }, addKnownRows(rows, stored.rows, found))
  const names = createSessionNames(rows)
  const trash = await openTrashFile(paths.trash, onProblem)
  for (const [id, at] of trash.all()) {
    const row = findRow(rows, id)
    if (row === null) trash.forget(id)
    else row.trashedAt = at
  }
  const trusts = await openTrustFile(paths.trust, reader.hasRecord)
  const nodes = await openNodeFile(paths.nodes)
  const tokens = await openTokenFile(paths.tokens)
  const spendingFile = await openSpendingFile(paths.spending, (session) => findRow(rows, session) !== null)
  const ledger = createSpendingLedger({ paths, rows, logs, file: spendingFile, runExclusive: queue.runExclusive })
  const source = {
    read: reader.read,
    loadSnapshot: (session: SessionId, fold: number) => loadSnapshot(paths, session, fold),
    entry: async (session: SessionId) => toStoredEntry(findRow(rows, session)),
  }
  for (const row of rebuilt) {
    if (row.isShared) continue
    await dropSnapshotAhead(paths, row.id, row.head)
    // A log that cannot be folded keeps its known entry; opening the session reports the damage.
    const entry = (await entryOf(source, row.id).catch(() => null)) ?? row.entry
    // The user's message may be among the lost records: never treat a damaged log as unspoken.
    row.entry = { ...entry, spoken: entry.spoken || row.entry.spoken }
  }

  const catalogue = await openCatalogueFile(paths.catalogue, stored, rows)
  changed = catalogue.changed
  for (const row of changedEarly) changed(row)
  let order = lastOrder(rows.values())
  const nextOrder = () => {
    order += 1
    return order
  }
  const appendGroup = createGroupAppender({ paths, rows, logs, catalogue, trusts, charged: ledger.charged })
  const shared = { paths, rows, forks: createForkIndex(rows.values()), names, logs, catalogue, trash }
  const syncNames = createDirectorySync(paths.directory)
  const creator = createSessionCreator({ ...shared, syncNames, nextOrder })
  const remover = createSessionRemover({ ...shared, syncNames })
  const blobUses = createBlobUses(rows, paths, remover.isBeingRemoved)

  async function close(): Promise<void> {
    try {
      await Promise.all([queue.settled(), creator.settled(), trusts.settled(), tokens.settled()])
      await Promise.all([ledger.settled(), spendingFile.settled()])
      await Promise.all([logs.close(), catalogue.close(), trash.close()])
    } finally {
      lock.release()
    }
  }
  return {
    ...shared,
    queue,
    reader,
    source,
    creator,
    remover,
    trusts,
    blobUses,
    nodes,
    tokens,
    spendingFile,
    ledger,
    close,
  }
}

export type JsonlFiles = Awaited<ReturnType<typeof openFiles>>
