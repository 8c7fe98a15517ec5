import { blobsOf, claimSession, findSession, type NodeDeps, type SessionRegistry } from '@holdfast/core'
import type { CatalogueEntry, CatalogueRow, EncodedRecord } from '@holdfast/core/ports'
import { type Fault, Handle, limits, ok, type Result, type SessionId, type StoredFile } from '@holdfast/protocol'
import type { ImportedLog } from './imported-log.ts'

export type ImportDeps = NodeDeps & {
  readonly stores: SessionRegistry['stores']
  /** Returns whether the session runs in this process; then only its runner may append. */
  readonly isLoaded: (session: SessionId) => boolean
  readonly storeFile: (bytes: Uint8Array, name: string | undefined) => Promise<Result<StoredFile>>
}

type WriteOptions = {
  /** The number of records from the source; the rest were added by the import. All of them by default. */
  readonly sourceRecords?: number | undefined
  /** If another session has the key: creates the session without a key instead of refusing. */
  readonly mayDropKey?: boolean | undefined
}

const handleTriesMax = 20

/** The result of a write: new, already stored, extended, or different from what is stored. */
export type WriteResult = {
  readonly status: 'imported' | 'same' | 'grown' | 'changed'
  readonly handleChanged: boolean
  readonly keyDropped: boolean
}

const unchanged = (status: WriteResult['status']): Result<WriteResult> =>
  ok({ status, handleChanged: false, keyDropped: false })

/**
 * Creates the session of these records, or appends the records that it lacks. Changes nothing if the session has other
 * records or runs. After a crash the next import completes it. Faults: session_trashed, key_taken, those of the store.
 */
export async function writeLog(
  deps: ImportDeps,
  log: ImportedLog,
  options: WriteOptions = {},
): Promise<Result<WriteResult>> {
  const known = await deps.stores.entry(log.session)
  if (known === null) return create(deps, log, options)
  const end = log.base + (options.sourceRecords ?? log.records.length)
  const upTo = Math.min(known.head, end)
  if (known.base !== log.base || !(await hasSameRecords(deps, log, upTo))) return unchanged('changed')
  const isOurs = deps.isLoaded(log.session) || known.owner === deps.node.id
  if (end <= known.head) {
    if (known.owner !== null && !isOurs) await releaseDeadOwner(deps, log.session)
    return unchanged('same')
  }
  return isOurs ? unchanged('changed') : add(deps, log, known, options)
}

/** Returns a fault if the session is in the trash. */
export async function checkTrash({ stores }: ImportDeps, session: SessionId): Promise<Result<void>> {
  const row = await stores.entry(session)
  const found = row === null || row.trashedAt === null ? ok(session) : await findSession(stores, session)
  return found.ok ? ok(undefined) : found
}

/** Releases a session whose owner died after the last record. */
async function releaseDeadOwner(deps: ImportDeps, session: SessionId): Promise<void> {
  const claimed = await claimSession({ ...deps, store: deps.stores.storeOf(session) }, session)
  if (claimed.ok) await deps.stores.storeOf(session).release(session, deps.node.id, claimed.value.lease.epoch)
}

type Names = Pick<CatalogueEntry['meta'], 'handle' | 'key'>

async function create(
  deps: ImportDeps,
  log: ImportedLog,
  { mayDropKey = false }: WriteOptions,
): Promise<Result<WriteResult>> {
  const { stores, node } = deps
  const { session, parent, base } = log
  const [first] = log.safePoints
  let names: Names = log.folded.row.entry.meta
  let [tries, keyDropped] = [0, false]
  for (;;) {
    const records = withNames(log.records, names)
    const batch = records.slice(0, first?.count)
    const entry = entryWithNames(first?.entry ?? log.folded.row.entry, names)
    const blobs = listBlobs(batch)
    const created = await stores.create({ session, parent, base, owner: node.id, records: batch, entry, blobs })
    if (created.ok) {
      const appended = await appendAndRelease(deps, log, names, { head: base + batch.length, epoch: 1 })
      return appended.ok ? ok({ status: 'imported', handleChanged: tries > 0, keyDropped }) : appended
    }
    const { code } = created.fault
    if (code === 'handle_taken' && tries < handleTriesMax)
      names = { key: names.key, handle: Handle.parse(deps.newHandle(++tries)) }
    else if (code === 'key_taken' && mayDropKey && !keyDropped) {
      names = { handle: names.handle }
      keyDropped = true
    } else return created
  }
}

async function add(
  deps: ImportDeps,
  log: ImportedLog,
  { head, entry }: CatalogueRow,
  options: WriteOptions,
): Promise<Result<WriteResult>> {
  const claimed = await claimSession({ ...deps, store: deps.stores.storeOf(log.session) }, log.session)
  if (!claimed.ok) return claimed.fault.code === 'session_locked' ? unchanged('changed') : claimed
  const { lease } = claimed.value
  if (lease.head !== head) {
    // Another process appended after the comparison.
    await deps.stores.storeOf(log.session).release(log.session, deps.node.id, lease.epoch)
    return writeLog(deps, log, options)
  }
  const appended = await appendAndRelease(deps, log, entry.meta, lease)
  return appended.ok ? unchanged('grown') : appended
}

/** Appends the remaining records up to each safe point, with the entry they fold to; then releases the session. */
async function appendAndRelease(
  { stores, node }: ImportDeps,
  { session, base, records, safePoints }: ImportedLog,
  names: Names,
  { head, epoch }: { readonly head: number; readonly epoch: number },
): Promise<Result<void>> {
  const store = stores.storeOf(session)
  try {
    let after = head
    for (const { count, entry } of safePoints) {
      if (base + count <= after) continue
      const batch = records.slice(after - base, count)
      // Imported approvals never change the trust of a workspace.
      const change = { records: batch, blobs: listBlobs(batch), clearDraft: false, trust: [] }
      const appended = await store.append({ session, after, epoch, entry: entryWithNames(entry, names), ...change })
      if (!appended.ok) return appended
      after = base + count
    }
    return ok(undefined)
  } finally {
    await store.release(session, node.id, epoch)
  }
}

const listBlobs = (records: readonly EncodedRecord[]) => [
  ...new Set(records.flatMap(({ record }) => blobsOf(record.event))),
]

/** Returns the records with the handle and key that the session has here. */
function withNames(records: readonly EncodedRecord[], { handle, key }: Names): readonly EncodedRecord[] {
  const [first, ...rest] = records
  const event = first?.record.event
  if (first === undefined || event?.type !== 'session.started' || (event.handle === handle && event.key === key))
    return records
  const { key: _, ...unnamed } = event
  const named = { ...unnamed, handle, ...(key !== undefined && { key }) }
  return [{ record: { ...first.record, event: named }, body: JSON.stringify(named) }, ...rest]
}

function entryWithNames(entry: CatalogueEntry, { handle, key }: Names): CatalogueEntry {
  const { key: _, ...unnamed } = entry.meta
  return { ...entry, meta: { ...unnamed, handle, ...(key !== undefined && { key }) } }
}

/** Returns whether the id belongs to a purged session whose forks still share its records. */
export const isPurgedSession = ({ code, details }: Fault, session: SessionId): boolean =>
  code === 'internal' && details?.['session'] === session

/** Returns whether the stored records equal these. The first one may differ, because it has the handle. */
async function hasSameRecords(
  { stores }: ImportDeps,
  { session, base, records }: ImportedLog,
  upTo: number,
): Promise<boolean> {
  for (let after = base + 1; after < upTo; ) {
    const page = await stores.storeOf(session).read(session, { after, upTo, limit: limits.pageRecordsMax })
    if (page.length === 0) return false
    for (const record of page) {
      if ('lost' in record || JSON.stringify(record.event) !== records[record.seq - base - 1]?.body) return false
      after = record.seq
    }
  }
  return true
}
