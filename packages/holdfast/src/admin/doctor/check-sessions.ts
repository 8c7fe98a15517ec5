import { isDeepStrictEqual } from 'node:util'
import { blobsOf, loadSession } from '@holdfast/core'
import type { CatalogueEntry } from '@holdfast/core/ports'
import { type BlobHash, HoldfastError, InvariantViolation, type Seq, type SessionId } from '@holdfast/protocol'
import { error, type Finding, info, warning } from '../../store/finding.ts'
import {
  countRecords,
  everySession,
  type ReadOnlyStore,
  type ReadProgress,
  type StoreSession,
} from '../../store/read-only-store.ts'
import type { SessionRemoval, SessionRepair } from '../../store/store-admin.ts'
import { systemErrorCode } from '../../system/system-error.ts'

export type CheckedSessions = {
  readonly findings: readonly Finding[]
  readonly repairs: readonly SessionRepair[]
  readonly removals: readonly SessionRemoval[]
  /** The blobs that records refer to, each with one session that refers to it. */
  readonly blobs: ReadonlyMap<BlobHash, SessionId>
  readonly sessions: number
  readonly records: number
}

/** The processes that use the store during the check, and their sessions. */
type SessionsInUse = {
  readonly isHeld: boolean
  /** Returns whether the process that owns a session is dead. */
  readonly isDead: (owner: string) => Promise<boolean>
  readonly onProgress?: ((progress: ReadProgress) => void) | undefined
}

const namedMax = 20

/** Reads every record of every session, and compares catalogue rows, heads and parents with the logs. */
export async function checkSessions(
  source: ReadOnlyStore,
  { isHeld, isDead, onProgress }: SessionsInUse,
): Promise<CheckedSessions> {
  const findings: Finding[] = []
  const repairs: SessionRepair[] = []
  const removals: SessionRemoval[] = []
  const blobs = new Map<BlobHash, SessionId>()
  const checked = new Map<SessionId, CheckedLog>()
  const count = { sessions: 0, records: 0 }
  const deferred: StoreSession[] = []
  const total = onProgress ? await countRecords(source) : 0

  async function check(session: StoreSession): Promise<void> {
    const read = await readIfExists(session, source, blobs, isHeld)
    if (read === null) {
      checked.set(session.id, { head: session.head, lost: [] }) // its forks still share its records
      return
    }
    count.records += session.head - session.base
    onProgress?.({ records: count.records, total })
    const parent = session.parent === null ? null : checked.get(session.parent)
    const shared = (parent?.lost ?? []).filter((seq) => seq <= session.base)
    checked.set(session.id, { head: session.head, lost: [...shared, ...read.lost] })
    findings.push(...checkParent(session, parent))
    if (session.isPurged) return
    count.sessions += 1
    const lost = [...shared, ...read.lost].filter((seq) => !read.givenUp.has(seq))
    if (isUnreadable(read)) {
      findings.push(createRemovalFinding(session, read.lost))
      removals.push({ session: session.id, owner: session.owner })
      return
    }
    const canFold = read.entry !== null
    findings.push(...listLossFindings(session.id, lost, read, canFold))
    const isStale = read.entry !== null && !isDeepStrictEqual(toPlain(read.entry), toPlain(session.entry))
    if (isStale || session.entry === null) findings.push(createRowFinding(session, canFold))
    const snapshot = await checkSnapshot(session, source, isHeld)
    if (snapshot !== null) findings.push(snapshot)
    const hasDeadOwner = session.owner !== null && (await isDead(session.owner))
    if (hasDeadOwner) findings.push(createOwnerFinding(session, canFold))
    const dropsSnapshot = snapshot !== null || lost.length > 0
    if (read.entry !== null && (lost.length > 0 || isStale || snapshot !== null || hasDeadOwner)) {
      const owner = hasDeadOwner ? session.owner : null
      repairs.push({ session: session.id, entry: read.entry, lost, dropsSnapshot, owner })
    }
  }

  for await (const session of everySession(source)) {
    if (session.parent !== null && !checked.has(session.parent)) deferred.push(session)
    else await check(session)
  }
  for (const session of deferred) await check(session)
  return { findings, repairs, removals, blobs, ...count }
}

type CheckedLog = { readonly head: Seq; readonly lost: readonly Seq[] }

type ReadSession = {
  readonly lost: readonly Seq[]
  readonly givenUp: ReadonlySet<Seq>
  /** Null if the log cannot be folded: its records contradict each other, or it lacks its first record. */
  readonly entry: CatalogueEntry | null
  readonly foldError: string | null
}

/** Without its first record nothing can tell what a session is. */
const isUnreadable = ({ entry, foldError }: ReadSession): boolean => entry === null && foldError === null

/** Reads a session; returns null if another process removed it after its row was read. */
async function readIfExists(
  session: StoreSession,
  source: ReadOnlyStore,
  blobs: Map<BlobHash, SessionId>,
  isHeld: boolean,
): Promise<ReadSession | null> {
  try {
    const read = await readSession(session, source, blobs)
    if (read.foldError === null && read.lost.length === 0) return read
    const kept = await source.session(session.id)
    return kept === null || kept.isPurged !== session.isPurged ? null : read
  } catch (cause) {
    if (isHeld && isMissingFile(cause)) return null
    throw cause
  }
}

const isMissingFile = (cause: unknown): boolean =>
  cause instanceof HoldfastError ? cause.details?.['reason'] === 'replaced' : systemErrorCode(cause) === 'ENOENT'

/** Reads a session's own records once, checks each checksum, and folds them again. */
async function readSession(
  session: StoreSession,
  source: ReadOnlyStore,
  blobs: Map<BlobHash, SessionId>,
): Promise<ReadSession> {
  const { id, base, head } = session
  const lost: Seq[] = []
  const givenUp = new Set<Seq>()
  const read: ReadOnlyStore['read'] = async (_, { after, limit, upTo = head }) => {
    // Stop at the head of the row: another process may have appended since.
    const page = await source.ownRecords(id, after, Math.min(limit, upTo - after))
    for (const record of page) {
      if ('lost' in record) lost.push(record.seq)
      else {
        if (record.event.type === 'log.repaired') for (const seq of record.event.lost) givenUp.add(seq)
        for (const hash of blobsOf(record.event)) blobs.set(hash, id)
      }
    }
    return page
  }
  const row = { entry: session.entry as CatalogueEntry, head, base, owner: null, trashedAt: null } // only head and base are used
  try {
    const loaded = await loadSession({ read, entry: async () => row, loadSnapshot: async () => null }, id)
    const entry = loaded.ok ? loaded.value.row.entry : null
    return { lost, givenUp, entry, foldError: null }
  } catch (cause) {
    if (!(cause instanceof InvariantViolation)) throw cause
    return { lost, givenUp, entry: null, foldError: cause.message }
  }
}

/** Drops undefined fields, as storing it on disk does. */
const toPlain = (entry: CatalogueEntry | null): unknown => JSON.parse(JSON.stringify(entry))

function checkParent({ id, parent, base }: StoreSession, ancestor: CheckedLog | null | undefined): readonly Finding[] {
  if (parent === null || ancestor === null) return []
  if (ancestor === undefined) {
    const what = `its parent session ${parent}, whose records it shares up to ${base}, is missing`
    return [error({ code: 'lineage', subject: id, what })]
  }
  if (base <= ancestor.head) return []
  const what = `it shares the records of ${parent} up to ${base}, but that session ends at ${ancestor.head}`
  return [error({ code: 'lineage', subject: id, what })]
}

function listLossFindings(
  id: SessionId,
  lost: readonly Seq[],
  read: ReadSession,
  canFold: boolean,
): readonly Finding[] {
  const findings: Finding[] = []
  if (lost.length > 0) {
    const state = canFold ? 'is read-only until you accept the loss with --repair' : 'cannot be opened'
    const what = `records cannot be read: ${listSeqs(lost)}; the session ${state}`
    const loss = `${lost.length === 1 ? 'record' : 'records'} ${listSeqs(lost)} of ${id}`
    findings.push(error({ code: 'lost_records', subject: id, what, canRepair: canFold, loss }))
  }
  const accepted = read.lost.filter((seq) => read.givenUp.has(seq))
  if (accepted.length > 0) {
    const what = `the loss of these records was accepted: ${listSeqs(accepted)}`
    findings.push(info({ code: 'given_up_records', subject: id, what }))
  }
  const contradiction = `its records contradict each other: ${read.foldError}`
  if (read.foldError !== null) findings.push(error({ code: 'unfoldable', subject: id, what: contradiction }))
  return findings
}

function createRemovalFinding({ id, base, head }: StoreSession, lost: readonly Seq[]): Finding {
  const kept = head - base - lost.length
  const which = kept === 0 ? 'none of its records can be read' : `records cannot be read: ${listSeqs(lost)}`
  const what = `${which}; without the first one the session cannot be opened; --repair removes it, and keeps what is left of it in the quarantine`
  const loss = `session ${id} with ${kept === 0 ? 'all its records' : `records ${listSeqs(lost)}; the others are in the quarantine`}`
  return error({ code: 'lost_records', subject: id, what, canRepair: true, loss })
}

const listSeqs = (seqs: readonly Seq[]): string =>
  seqs.length <= namedMax ? seqs.join(', ') : `${seqs.slice(0, namedMax).join(', ')} and ${seqs.length - namedMax} more`

function createRowFinding({ id, entry }: StoreSession, canRepair: boolean): Finding {
  const what = entry === null ? 'its catalogue row cannot be read' : 'its catalogue row does not match its log'
  return (entry === null ? error : warning)({ code: 'row', subject: id, what, canRepair })
}

/** Checks a snapshot. While another process has the store, a snapshot may be newer than the head that was read. */
async function checkSnapshot(
  { id, head }: StoreSession,
  source: ReadOnlyStore,
  isHeld: boolean,
): Promise<Finding | null> {
  const snapshot = await source.snapshotOf(id)
  const isAhead = snapshot !== null && snapshot !== 'damaged' && snapshot.seq > head && !isHeld
  if (!isAhead && snapshot !== 'damaged') return null
  return warning({ code: 'snapshot', subject: id, what: `its snapshot is ${isAhead ? 'ahead of its log' : 'damaged'}` })
}

const createOwnerFinding = ({ id, owner }: StoreSession, canRepair: boolean): Finding =>
  warning({
    code: 'dead_owner',
    subject: id,
    what: `it is owned by ${owner}, a process that no longer runs`,
    canRepair,
  })
