import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CatalogueEntry, ReadRecord } from '@holdfast/core/ports'
import type { Seq, SessionId, Trust } from '@holdfast/protocol'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { findSessions, listSessions } from '../memory/memory-catalogue.ts'
import {
  everyRecord,
  type KeptSession,
  type ReadOnlyStore,
  type TypeCount,
  type WorkspaceTrust,
} from '../read-only-store.ts'
import { faultOf, storageFault } from '../storage-fault.ts'
import { readCatalogue } from './catalogue/catalogue-file.ts'
import { addKnownRows, type EntryOfLog, rebuildRows } from './catalogue/rebuild-rows.ts'
import { parseTrash } from './catalogue/trash-file.ts'
import { readJsonIfExists, readTextIfExists } from './files/atomic-file.ts'
import { createJsonlPaths, findDirectoryFault, findLogs } from './files/layout.ts'
import { readNodes } from './files/node-file.ts'
import { createDraftFiles, createSnapshotFiles } from './files/side-files.ts'
import type { TrustMark } from './files/trust-file.ts'
import { type LoadedLog, loadLog } from './log/load-log.ts'
import { readChecksumAt, readRecordsAt } from './log/read-records.ts'
import type { SessionRow } from './log/session-row.ts'
import { createLogReader } from './read/log-reader.ts'
import { createLogSearch } from './read/log-search.ts'

const logsHeldMax = 64

/**
 * Opens a directory of plain files to look at: no lock, no byte changed, whoever has it open. Null when there is none.
 * What a crash left half-written is not read. Refused: not_a_store, store_too_new, storage_error.
 */
export async function openReadOnlyJsonl(directory: string, entryOf: EntryOfLog): Promise<Result<ReadOnlyStore | null>> {
  const places = createJsonlPaths(resolve(directory))
  if (!existsSync(places.directory)) return ok(null)
  try {
    const refusal = await findDirectoryFault(places)
    return refusal === null ? ok(await openReadOnlyStore(places, entryOf)) : refuse(refusal)
  } catch (error) {
    return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, places.directory))
  }
}

async function openReadOnlyStore(
  places: ReturnType<typeof createJsonlPaths>,
  entryOf: EntryOfLog,
): Promise<ReadOnlyStore> {
  const rows = new Map<SessionId, SessionRow>()
  const known = await readCatalogue(places.catalogue)
  const logs = createHeldLogs(places)
  const unknown = addKnownRows(rows, known.rows, await findLogs(places))
  const made = await rebuildRows({ places, rows, logs, onProblem: () => undefined, leavesTail: true }, unknown)
  for (const [id, at] of parseTrash((await readTextIfExists(places.trash)) ?? '') ?? []) {
    const row = rows.get(id)
    if (row?.isShared === false) row.trashedAt = at
  }
  const reader = createLogReader(rows, logs)
  const [drafts, snapshots] = [createDraftFiles(places), createSnapshotFiles(places)]
  const rowOf = (session: SessionId): SessionRow | null => {
    const row = rows.get(session)
    return row === undefined || row.isShared ? null : row
  }
  const entry: ReadOnlyStore['entry'] = async (session) => {
    const row = rowOf(session)
    if (row === null) return null
    const { head, base, owner, trashedAt } = row
    return { entry: structuredClone(row.entry), head, base, owner, trashedAt }
  }
  const loadSnapshot: ReadOnlyStore['loadSnapshot'] = async (session, fold) => {
    const snapshot = await snapshots.load(session)
    const row = rowOf(session)
    return snapshot?.fold === fold && row !== null && snapshot.seq <= row.head ? snapshot : null
  }
  for (const row of made) {
    if (!row.isShared) row.entry = (await foldedEntry(row)) ?? row.entry
  }

  function foldedEntry(row: SessionRow): Promise<CatalogueEntry | null> {
    // What cannot be folded keeps what else is known of it.
    return entryOf({ read: reader.read, loadSnapshot, entry }, row.id).catch(() => null)
  }
  /** Whether a log has the line that decides over a change of trust which a crash cut short. */
  async function isThere({ session, seq, crc }: TrustMark): Promise<boolean> {
    const row = rows.get(session)
    if (row === undefined) return false
    const { index } = await logs.of(row)
    return (await readChecksumAt(places.log(row.id, row.isShared), row.id, index.placeOf(seq))) === crc
  }
  async function readOwn(session: SessionId, types: ReadonlySet<string> | null, after: Seq, limit: number) {
    const row = rows.get(session)
    if (row === undefined) return []
    const log = await logs.of(row)
    return log.read(log.index.pick({ from: after + 1, upTo: row.head, limit, newestFirst: false, types }))
  }
  const ownRecords: ReadOnlyStore['ownRecords'] = (session, after, limit) => readOwn(session, null, after, limit)
  const visible = (): readonly SessionRow[] => [...rows.values()].filter(({ isShared }) => !isShared)
  const inOrder = [...rows.values()].toSorted((left, right) => left.order - right.order)

  return {
    ...{ read: reader.read, readRefs: reader.readRefs, entry, loadSnapshot },
    list: async (request) => listSessions(visible(), request),
    find: async (name) => findSessions(visible(), name),
    search: createLogSearch(rows, logs),
    nodes: () => readNodes(places.nodes),
    async loadDraft(session) {
      const row = rowOf(session)
      return row === null ? null : drafts.load(session, (await logs.of(row)).draftEndedAt)
    },
    sessions: async (after, limit) => pageAfter(inOrder, after, limit).map(keptOf),
    async kept(session) {
      const row = rows.get(session)
      return row === undefined ? null : keptOf(row)
    },
    ownRecords,
    ownRecordsOf: readOwn,
    async countOwn(session) {
      const row = rows.get(session)
      return row === undefined ? [] : countDays(everyRecord({ ownRecords }, row))
    },
    trusts: async () => trustsIn((await readJsonIfExists(places.trust)) as HeldTrust | null, isThere), // written by us
    async snapshotOf(session) {
      if (!existsSync(places.snapshot(session))) return null
      return (await snapshots.load(session)) ?? 'damaged'
    },
    async close() {},
  }
}

/** Each log is read through when it is first asked for; those asked for longest ago are forgotten. */
function createHeldLogs(places: ReturnType<typeof createJsonlPaths>) {
  const held = new Map<SessionId, ReturnType<typeof logOf>>()

  function logOf(row: SessionRow, { index, draftEndedAt }: Pick<LoadedLog, 'index' | 'draftEndedAt'>) {
    const path = places.log(row.id, row.isShared)
    return {
      index,
      draftEndedAt,
      read: (seqs: readonly number[]) => readRecordsAt(path, row.id, seqs, index),
    }
  }

  function take(row: SessionRow, loaded: Pick<LoadedLog, 'index' | 'draftEndedAt'>) {
    const log = logOf(row, loaded)
    held.set(row.id, log)
    const [oldest] = held.keys()
    if (held.size > logsHeldMax && oldest !== undefined) held.delete(oldest)
    return log
  }

  return {
    take: (row: SessionRow, loaded: LoadedLog): void => void take(row, loaded),
    async of(row: SessionRow) {
      const known = held.get(row.id)
      if (known !== undefined) return known
      const { id, isShared } = row
      const path = places.log(id, isShared)
      const loaded = await loadLog({ path, session: id, known: row, isShared, leavesTail: true })
      if (loaded === null) throw new HoldfastError(storageFault(path, 'replaced'))
      return take(row, loaded)
    },
  }
}

function keptOf(row: SessionRow): KeptSession {
  const { id, order, parent, base, head, owner, trashedAt, entry, isShared } = row
  return { id, order, parent, base, head, owner, trashedAt, entry: isShared ? null : entry, isPurged: isShared }
}

type TrustsOf = Readonly<Record<string, readonly Trust[]>>
type HeldTrust = { readonly trusts?: TrustsOf; readonly next?: TrustMark & { readonly trusts: TrustsOf } }

async function trustsIn(
  held: HeldTrust | null,
  isThere: (mark: TrustMark) => Promise<boolean>,
): Promise<readonly WorkspaceTrust[]> {
  const next = held?.next !== undefined && (await isThere(held.next)) ? held.next.trusts : null
  const trusts = next ?? held?.trusts ?? {}
  return Object.entries(trusts).flatMap(([workspace, all]) => all.map((trust) => ({ workspace, trust })))
}

/** How many records there are of each type and day; those that are lost are of neither. */
export async function countDays(records: AsyncIterable<ReadRecord>): Promise<readonly TypeCount[]> {
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

type Ordered = { readonly order: number }

/** The page behind a place of what is sorted by its order: found by halves, so that all pages cost no more than all rows. */
export function pageAfter<Row extends Ordered>(sorted: readonly Row[], after: number, limit: number): readonly Row[] {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    const there = sorted[middle]
    if (there !== undefined && there.order <= after) from = middle + 1
    else to = middle
  }
  return sorted.slice(from, from + limit)
}
