import { blobsOf, claimSession, findSession, type NodeDeps } from '@holdfast/core'
import type { CatalogueEntry, CatalogueRow, EncodedRecord } from '@holdfast/core/ports'
import {
  type Fault,
  Handle,
  type Key,
  limits,
  ok,
  type Result,
  type SessionId,
  type StoredFile,
} from '@holdfast/protocol'
import type { Past } from './past.ts'

export type ImportDeps = NodeDeps & {
  /** Whether the session runs in this process: then its log is its runner's alone. */
  readonly isAwake: (session: SessionId) => boolean
  readonly storeFile: (bytes: Uint8Array, name: string | undefined) => Promise<Result<StoredFile>>
}

export type WriteOptions = {
  /** So many of the records are the source's own, what follows is ours; all of them when absent. */
  readonly given?: number | undefined
  /** Where another session has its key: made without one, instead of being refused. */
  readonly keyMayGo?: boolean | undefined
}

const handleTriesMax = 20

/** What became of the records: new here, here already, or held against others. */
export type Written = {
  readonly status: 'imported' | 'same' | 'grown' | 'changed'
  readonly handleChanged: boolean
  readonly keyDropped: boolean
}

const untouched = (status: Written['status']): Result<Written> =>
  ok({ status, handleChanged: false, keyDropped: false })

/**
 * Makes the session these records are of, or adds to it those it lacks. Where it has others in their place, or runs,
 * nothing is touched. A process that dies at a pause leaves a beginning, which the next one completes.
 * Refused: session_trashed, key_taken, and as the store refuses.
 */
export async function writePast(parts: ImportDeps, past: Past, options: WriteOptions = {}): Promise<Result<Written>> {
  const { store } = parts
  const known = await store.entry(past.session)
  if (known === null) return create(parts, past, options)
  const end = past.base + (options.given ?? past.records.length)
  const upTo = Math.min(known.head, end)
  if (known.base !== past.base || !(await isSame(parts, past, upTo))) return untouched('changed')
  const isOurs = parts.isAwake(past.session) || known.owner === parts.node.id
  if (end <= known.head) {
    if (known.owner !== null && !isOurs) await freeFromDead(parts, past.session)
    return untouched('same')
  }
  return isOurs ? untouched('changed') : add(parts, past, known, options)
}

/** What is in the trash is not imported beside itself. Ok where it is not in it, or not here at all. */
export async function checkTrash({ store }: ImportDeps, session: SessionId): Promise<Result<void>> {
  const row = await store.entry(session)
  const found = row === null || row.trashedAt === null ? ok(session) : await findSession(store, session)
  return found.ok ? ok(undefined) : found
}

/** Who died after the last record has not let go of it. */
async function freeFromDead(parts: ImportDeps, session: SessionId): Promise<void> {
  const claimed = await claimSession(parts, session)
  if (claimed.ok) await parts.store.release(session, parts.node.id, claimed.value.lease.epoch)
}

type Names = { readonly handle: Handle; readonly key: Key | undefined }

async function create(parts: ImportDeps, past: Past, { keyMayGo = false }: WriteOptions): Promise<Result<Written>> {
  const { store, node } = parts
  const { session, parent, base } = past
  const [first] = past.pauses
  let names = namesOf(past)
  let [tries, keyDropped] = [0, false]
  for (;;) {
    const records = underNames(past.records, names)
    const batch = records.slice(0, first?.count)
    const entry = entryUnder(first?.entry ?? past.folded.row.entry, names)
    const created = await store.create({
      session,
      parent,
      base,
      owner: node.id,
      records: batch,
      entry,
      blobs: blobsIn(batch),
    })
    if (created.ok) {
      const appended = await appendAndRelease(parts, past, names, { head: base + batch.length, epoch: 1 })
      return appended.ok ? ok({ status: 'imported', handleChanged: tries > 0, keyDropped }) : appended
    }
    const { code } = created.fault
    if (code === 'handle_taken' && tries < handleTriesMax)
      names = { ...names, handle: Handle.parse(parts.newHandle(++tries)) }
    else if (code === 'key_taken' && keyMayGo && !keyDropped) {
      names = { ...names, key: undefined }
      keyDropped = true
    } else return created
  }
}

async function add(
  parts: ImportDeps,
  past: Past,
  { head, entry }: CatalogueRow,
  options: WriteOptions,
): Promise<Result<Written>> {
  const claimed = await claimSession(parts, past.session)
  if (!claimed.ok) return claimed.fault.code === 'session_locked' ? untouched('changed') : claimed
  const { lease } = claimed.value
  if (lease.head !== head) {
    // Someone wrote to it since it was compared.
    await parts.store.release(past.session, parts.node.id, lease.epoch)
    return writePast(parts, past, options)
  }
  const { handle, key } = entry.meta
  const appended = await appendAndRelease(parts, past, { handle, key }, lease)
  return appended.ok ? untouched('grown') : appended
}

/** Writes the rest, pause by pause, each with the row that its records fold to; then whoever opens it first has it. */
async function appendAndRelease(
  { store, node }: ImportDeps,
  { session, base, records, pauses }: Past,
  names: Names,
  { head, epoch }: { readonly head: number; readonly epoch: number },
): Promise<Result<void>> {
  try {
    let after = head
    for (const { count, entry } of pauses) {
      if (base + count <= after) continue
      const batch = records.slice(after - base, count)
      // Nobody's standing approvals come with a file: what was lived elsewhere changes no trust here.
      const facts = { clearDraft: false, blobs: blobsIn(batch), trust: [] }
      const appended = await store.append({
        ...{ session, after, epoch, records: batch, entry: entryUnder(entry, names) },
        ...facts,
      })
      if (!appended.ok) return appended
      after = base + count
    }
    return ok(undefined)
  } finally {
    await store.release(session, node.id, epoch)
  }
}

const blobsIn = (records: readonly EncodedRecord[]) => [
  ...new Set(records.flatMap(({ record }) => blobsOf(record.event))),
]

const namesOf = ({ folded }: Past): Names => {
  const { handle, key } = folded.row.entry.meta
  return { handle, key }
}

/** The same records under the names they have here. */
function underNames(records: readonly EncodedRecord[], { handle, key }: Names): readonly EncodedRecord[] {
  const [first, ...rest] = records
  const event = first?.record.event
  if (first === undefined || event?.type !== 'session.started' || (event.handle === handle && event.key === key))
    return records
  const { key: _, ...unnamed } = event
  const named = { ...unnamed, handle, ...(key !== undefined && { key }) }
  return [{ record: { ...first.record, event: named }, body: JSON.stringify(named) }, ...rest]
}

function entryUnder(entry: CatalogueEntry, { handle, key }: Names): CatalogueEntry {
  const { key: _, ...unnamed } = entry.meta
  return { ...entry, meta: { ...unnamed, handle, ...(key !== undefined && { key }) } }
}

/** Whether the store has something under this id that nobody finds: what is left of a session whose forks share its past. */
export const isRemains = ({ code, details }: Fault, session: SessionId): boolean =>
  code === 'internal' && details?.['session'] === session

/** The first record may name what only this place knows, as its handle; the rest must be the same. */
async function isSame({ store }: ImportDeps, { session, base, records }: Past, upTo: number): Promise<boolean> {
  for (let after = base + 1; after < upTo; ) {
    const page = await store.read(session, { after, upTo, limit: limits.pageRecordsMax })
    if (page.length === 0) return false
    for (const record of page) {
      if ('lost' in record || JSON.stringify(record.event) !== records[record.seq - base - 1]?.body) return false
      after = record.seq
    }
  }
  return true
}
