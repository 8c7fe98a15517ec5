import type { CatalogueEntry, EncodedRecord } from '@holdfast/core/ports'
import {
  countedMessageEvents,
  type Event,
  type EventType,
  type Fault,
  Handle,
  limits,
  ok,
  type Recorded,
  type Result,
  type SessionId,
} from '@holdfast/protocol'
import type { ImportHost } from '../host/import-host.ts'
import { dropFileContents, dropPayer, dropTrust } from './drop-trust.ts'
import type { LogBatch, LogStart } from './imported-log.ts'

type WriteDeps = Pick<ImportHost, 'entry' | 'create' | 'append' | 'read' | 'claim' | 'release'> & {
  readonly newHandle: (attempt: number) => string
}

type WriteOptions = {
  /** If another session has the key: creates the session without a key instead of refusing. */
  readonly mayDropKey?: boolean | undefined
  /** Whether the id is new, so that no stored session can have it. */
  readonly isNewId?: boolean | undefined
}

const handleTriesMax = 20

/** The result of a write: new, already stored, extended, or different from what is stored. */
export type ImportWriteResult = {
  /** Whether the session is new, has grown, is the same or was changed. */
  readonly status: 'imported' | 'same' | 'grown' | 'changed'
  /** Whether the handle was taken, so that it got another. */
  readonly handleChanged: boolean
  /** Whether the key was taken, so that it has none. */
  readonly keyDropped: boolean
}

const unchanged = (status: ImportWriteResult['status']): Result<ImportWriteResult> =>
  ok({ status, handleChanged: false, keyDropped: false })

/**
 * Creates the session of these records, or appends the records that it lacks. Changes nothing if the session has other
 * records or runs. Until its last batch a new session is not listed, and a start after a crash removes it. Faults:
 * session_trashed, key_taken, those of the store.
 */
export async function writeLog(
  deps: WriteDeps,
  start: LogStart,
  batches: Iterable<LogBatch> | AsyncIterable<LogBatch>,
  options: WriteOptions = {},
): Promise<Result<ImportWriteResult>> {
  const known = options.isNewId ? null : await deps.entry(start.session)
  if (known === null) return create(deps, start, withLast(batches), options)
  if (known.base !== start.base) return unchanged('changed')
  return extend(deps, start, withLast(batches), known)
}

type Step = LogBatch & { readonly isLast: boolean }

/** Marks the last batch. */
async function* withLast(batches: Iterable<LogBatch> | AsyncIterable<LogBatch>): AsyncGenerator<Step> {
  let before: LogBatch | null = null
  for await (const batch of batches) {
    if (before) yield { ...before, isLast: false }
    before = batch
  }
  if (before) yield { ...before, isLast: true }
}

type Names = Pick<CatalogueEntry['meta'], 'handle' | 'key'>

async function create(
  deps: WriteDeps,
  start: LogStart,
  steps: AsyncGenerator<Step>,
  { mayDropKey = false }: WriteOptions,
): Promise<Result<ImportWriteResult>> {
  const { value: first } = await steps.next()
  if (!first) return unchanged('same')
  let names: Names = first.entry.meta
  let [tries, keyDropped] = [0, false]
  for (;;) {
    const { records, blobs } = withNames(first, names)
    const created = await deps.create({ ...start, records, blobs, entry: rowOf(first, names) }, first.isLast)
    if (created.ok) break
    const { code } = created.fault
    if (code === 'handle_taken' && tries < handleTriesMax)
      names = { key: names.key, handle: Handle.parse(deps.newHandle(++tries)) }
    else if (code === 'key_taken' && mayDropKey && !keyDropped) {
      names = { handle: names.handle }
      keyDropped = true
    } else return created
  }
  const written = { status: 'imported', handleChanged: tries > 0, keyDropped } as const
  if (first.isLast) return ok(written)
  const head = start.base + first.records.length
  const appended = await appendAndRelease(deps, start.session, steps, { head, epoch: 1, names })
  return appended.ok ? ok(written) : appended
}

type Position = { readonly head: number; readonly epoch: number; readonly names: Names }

/** Appends the remaining batches; then releases the session. */
async function appendAndRelease(
  deps: WriteDeps,
  session: SessionId,
  steps: AsyncIterable<Step>,
  { head, epoch, names }: Position,
): Promise<Result<void>> {
  let after = head
  let written: Promise<Result<void>> = Promise.resolve(ok(undefined))
  try {
    // The next batch is built while the one before it is written.
    for await (const step of steps) {
      const { records, blobs } = step
      // Imported approvals never change the trust of a workspace.
      const change = { records, blobs, clearDraft: false, trust: [] }
      const append = { session, after, epoch, entry: rowOf(step, names), ...change }
      const before = await written
      if (!before.ok) return before
      written = deps.append(append)
      after += records.length
    }
    return await written
  } finally {
    await deps.release(session, epoch)
  }
}

/** Returns the row after a batch. A session that is not whole yet is not listed, and nothing works on it. */
function rowOf({ entry, isLast }: Step, { handle, key }: Names): CatalogueEntry {
  const { key: _, ...unnamed } = entry.meta
  const named = { ...entry, meta: { ...unnamed, handle, ...(key !== undefined && { key }) } }
  return isLast ? named : { ...named, spoken: false, busy: false }
}

/** Returns the batch with the handle and key that the session has here. */
function withNames<Batch extends LogBatch>(batch: Batch, { handle, key }: Names): Batch {
  const [first, ...rest] = batch.records
  const event = first?.record.event
  if (first === undefined || event?.type !== 'session.started' || (event.handle === handle && event.key === key))
    return batch
  const { key: _, ...unnamed } = event
  const named = { ...unnamed, handle, ...(key !== undefined && { key }) }
  return { ...batch, records: [{ record: { ...first.record, event: named }, body: JSON.stringify(named) }, ...rest] }
}

type Known = NonNullable<Awaited<ReturnType<ImportHost['entry']>>>

/** Compares the batches with what is stored, and appends what comes after it. */
async function extend(
  deps: WriteDeps,
  { session, base }: LogStart,
  steps: AsyncGenerator<Step>,
  known: Known,
): Promise<Result<ImportWriteResult>> {
  let seq = base
  // Not a for loop, which would end the generator when it is left.
  for (let next = await steps.next(); !next.done; next = await steps.next()) {
    const step = next.value
    if (step.isAdded && seq <= known.head) break
    const shared = step.records.slice(0, Math.max(0, known.head - seq))
    if (!(await areStored(deps, session, shared))) return unchanged('changed')
    seq += step.records.length
    if (seq <= known.head) continue
    if (known.isOurs) return unchanged('changed')
    const rest = { ...step, records: step.records.slice(shared.length) }
    return append(deps, session, chain(rest, steps), known)
  }
  if (await isContinued(deps, session, seq)) return unchanged('changed')
  // The owner of a whole session may have died before it released it.
  if (known.owner !== null && !known.isOurs) {
    const claimed = await deps.claim(session)
    if (claimed.ok) await deps.release(session, claimed.value.epoch)
  }
  return unchanged('same')
}

/** The records with which a session goes on after an import. Those that an import adds, and settings, are not among them. */
const continuing = [...countedMessageEvents, 'line.moved'] as const satisfies readonly EventType[]

/** Returns whether the stored session has messages after the last record of the source, or went back in its history. */
async function isContinued({ read }: WriteDeps, session: SessionId, after: number): Promise<boolean> {
  return (await read(session, { after, limit: 1, types: continuing })).length > 0
}

async function* chain(first: Step, rest: AsyncIterable<Step>): AsyncGenerator<Step> {
  yield first
  yield* rest
}

async function append(
  deps: WriteDeps,
  session: SessionId,
  steps: AsyncIterable<Step>,
  { head, entry }: Known,
): Promise<Result<ImportWriteResult>> {
  const claimed = await deps.claim(session)
  if (!claimed.ok) return claimed.fault.code === 'session_locked' ? unchanged('changed') : claimed
  const { epoch } = claimed.value
  if (claimed.value.head !== head) {
    // Another process appended after the comparison; the next import compares again.
    await deps.release(session, epoch)
    return unchanged('changed')
  }
  // A listed session stays listed while it grows.
  const keep = async function* () {
    for await (const step of steps) yield entry.spoken ? { ...step, isLast: true } : step
  }
  const appended = await appendAndRelease(deps, session, keep(), { head, epoch, names: entry.meta })
  return appended.ok ? unchanged('grown') : appended
}

/**
 * Returns whether the stored records equal these, apart from the trust and the contents of files that an import drops. The
 * first of a session may differ, because it has the handle.
 */
async function areStored(deps: WriteDeps, session: SessionId, records: readonly EncodedRecord[]): Promise<boolean> {
  const compared = records[0]?.record.event.type === 'session.started' ? records.slice(1) : records
  const first = compared[0]?.record.seq
  const upTo = compared.at(-1)?.record.seq
  if (first === undefined || upTo === undefined) return true
  for (let after = first - 1; after < upTo; ) {
    const page = await deps.read(session, { after, upTo, limit: limits.pageRecordsMax })
    if (page.length === 0) return false
    for (const record of page) {
      if ('lost' in record || !isStored(record, compared[record.seq - first])) return false
      after = record.seq
    }
  }
  return true
}

const isStored = ({ event }: Recorded, wanted: EncodedRecord | undefined): boolean =>
  wanted !== undefined &&
  (JSON.stringify(event) === wanted.body ||
    JSON.stringify(dropAll(event)) === JSON.stringify(dropAll(wanted.record.event)))

const dropAll = (event: Event): Event => dropPayer(dropFileContents(dropTrust(event)))

/** Returns whether the id belongs to a purged session whose forks still share its records. */
export const isPurgedSession = ({ code, details }: Fault, session: SessionId): boolean =>
  code === 'internal' && details?.['session'] === session
