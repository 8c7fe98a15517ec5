import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Charge, ReadRecord } from '@holdfast/core/ports'
import type { SessionId } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { addCharges } from '../ledger.ts'
import { findSessions, listSessions } from '../memory/memory-catalogue.ts'
import { everyRecord, type ReadOnlyStore, type StoreSession, type TypeCount } from '../read-only-store.ts'
import { faultOf, storageFault } from '../storage-fault.ts'
import { readCatalogue } from './catalogue/catalogue-file.ts'
import { addKnownRows, type EntryOfLog, rebuildRows } from './catalogue/rebuild-rows.ts'
import { parseTrash } from './catalogue/trash-file.ts'
import { readNodes } from './files/directory-lock.ts'
import { createJsonlPaths, findDirectoryFault, findLogs, type JsonlPaths } from './files/layout.ts'
import { readTextIfExists } from './files/replace-file.ts'
import { loadAnySnapshot, loadDraft, loadSnapshot } from './files/side-files.ts'
import { readSpending } from './files/spending-file.ts'
import { readTokens } from './files/token-file.ts'
import { readTrusts } from './files/trust-file.ts'
import { type LoadedLog, loadLog } from './log/load-log.ts'
import { readChecksumAt, readRecordsAt } from './log/log-index.ts'
import { findRow, listRows, type SessionRow, toStoredEntry } from './log/session-row.ts'
import { createLogReader } from './read/log-reader.ts'

const cachedLogsMax = 64

/**
 * Opens a directory of plain files without changing a byte, also while another process writes to it. Returns null if
 * there is no directory. Faults: not_a_store, store_too_new, storage_error.
 */
export async function openReadOnlyJsonl(directory: string, entryOf: EntryOfLog): Promise<Result<ReadOnlyStore | null>> {
  const paths = createJsonlPaths(resolve(directory))
  if (!existsSync(paths.directory)) return ok(null)
  try {
    const refusal = await findDirectoryFault(paths)
    return refusal === null ? ok(await openStore(paths, entryOf)) : refuse(refusal)
  } catch (error) {
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, paths.directory))
  }
}

async function openStore(paths: JsonlPaths, entryOf: EntryOfLog): Promise<ReadOnlyStore> {
  const rows = new Map<SessionId, SessionRow>()
  const logs = createLogCache(paths)
  const { read, readRefs, readOwn, hasRecord, search } = createLogReader(rows, logs)
  const stored = await readCatalogue(paths.catalogue)
  const unknown = addKnownRows(rows, stored.rows, await findLogs(paths))
  const rebuilt = await rebuildRows({ paths, rows, logs, onProblem: () => undefined, leavesTail: true }, unknown)
  for (const [id, at] of parseTrash((await readTextIfExists(paths.trash)) ?? '') ?? []) {
    const row = findRow(rows, id)
    if (row !== null) row.trashedAt = at
  }
  const source: Pick<ReadOnlyStore, 'read' | 'entry' | 'loadSnapshot'> = {
    read,
    entry: async (session) => toStoredEntry(findRow(rows, session)),
    async loadSnapshot(session, fold) {
      const snapshot = await loadSnapshot(paths, session, fold)
      const row = findRow(rows, session)
      return snapshot !== null && row !== null && snapshot.seq <= row.head ? snapshot : null
    },
  }
  for (const row of rebuilt) {
    // A log that cannot be folded keeps its known entry.
    if (!row.isShared) row.entry = (await entryOf(source, row.id).catch(() => null)) ?? row.entry
  }
  const ownRecords: ReadOnlyStore['ownRecords'] = (session, after, limit) => readOwn(session, null, after, limit)
  const hasLog = (session: SessionId) => findRow(rows, session) !== null
  const inOrder = [...rows.values()].toSorted((left, right) => left.order - right.order)

  return {
    ...source,
    readRefs,
    search,
    list: async (request) => listSessions(listRows(rows), request),
    find: async (name) => findSessions(listRows(rows), name),
    nodes: () => readNodes(paths.nodes),
    async loadDraft(session) {
      const row = findRow(rows, session)
      return row === null ? null : loadDraft(paths, session, (await logs.get(row)).draftEndedAt)
    },
    sessions: async (after, limit) => pageAfter(inOrder, after, limit).map(toStoreSession),
    async session(session) {
      const row = rows.get(session)
      return row === undefined ? null : toStoreSession(row)
    },
    ownRecords,
    ownRecordsOf: readOwn,
    async countOwn(session) {
      const row = rows.get(session)
      return row === undefined ? [] : countByTypeAndDay(everyRecord({ ownRecords }, row))
    },
    async trusts() {
      const { trusts } = await readTrusts(paths.trust, hasRecord)
      return Object.entries(trusts).flatMap(([workspace, all]) => all.map((trust) => ({ workspace, trust })))
    },
    tokens: () => readTokens(paths.tokens),
    async charges() {
      const { spending } = await readSpending(paths.spending, hasLog)
      let charges: readonly Charge[] = spending.added
      for (const row of listRows(rows)) charges = addCharges(charges, (await logs.get(row)).index.charges())
      return charges
    },
    caps: async () => (await readSpending(paths.spending, hasLog)).spending.caps,
    async snapshotOf(session) {
      if (!existsSync(paths.snapshot(session))) return null
      return (await loadAnySnapshot(paths, session)) ?? 'damaged'
    },
    async close() {},
  }
}

/** Scans each log when it is first read, and caches the most recent ones. */
function createLogCache(paths: JsonlPaths) {
  const cache = new Map<SessionId, ReturnType<typeof add>>()

  function add({ id, isShared }: SessionRow, { index, draftEndedAt }: LoadedLog) {
    const path = paths.log(id, isShared)
    const log = {
      index,
      draftEndedAt,
      read: (seqs: readonly number[]) => readRecordsAt(path, id, seqs, index),
      crcAt: (seq: number) => readChecksumAt(path, id, index.positionOf(seq)),
    }
    cache.set(id, log)
    const [oldest] = cache.keys()
    if (cache.size > cachedLogsMax && oldest !== undefined) cache.delete(oldest)
    return log
  }

  return {
    add: (row: SessionRow, loaded: LoadedLog): void => void add(row, loaded),
    async get(row: SessionRow) {
      const cached = cache.get(row.id)
      if (cached !== undefined) return cached
      const path = paths.log(row.id, row.isShared)
      const loaded = await loadLog({ path, session: row.id, known: row, isShared: row.isShared, leavesTail: true })
      if (loaded === null) throw new HoldfastError(storageFault(path, 'replaced'))
      return add(row, loaded)
    },
  }
}

function toStoreSession(row: SessionRow): StoreSession {
  const { id, order, parent, base, head, owner, trashedAt, entry, isShared } = row
  return { id, order, parent, base, head, owner, trashedAt, entry: isShared ? null : entry, isPurged: isShared }
}

/** Counts records by type and day, without lost ones. */
async function countByTypeAndDay(records: AsyncIterable<ReadRecord>): Promise<readonly TypeCount[]> {
  const counts = new Map<string, TypeCount>()
  for await (const record of records) {
    if ('lost' in record) continue
    const { type } = record.event
    const day = record.at.slice(0, 10)
    const name = `${day} ${type}`
    counts.set(name, { type, day, count: (counts.get(name)?.count ?? 0) + 1 })
  }
  return [...counts.values()]
}

/** Returns the rows after a position in the order, found by binary search. */
export function pageAfter<Row extends { readonly order: number }>(
  sorted: readonly Row[],
  after: number,
  limit: number,
): readonly Row[] {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const row = sorted[middle]
    if (row !== undefined && row.order <= after) from = middle + 1
    else to = middle
  }
  return sorted.slice(from, from + limit)
}
