import { isDeepStrictEqual } from 'node:util'
import { blobsOf, loadSession } from '@holdfast/core'
import type { CatalogueEntry } from '@holdfast/core/ports'
import { type BlobHash, HoldfastError, InvariantViolation, type Seq, type SessionId } from '@holdfast/protocol'
import { error, type Finding, info, warning } from '../../store/finding.ts'
import { everySession, type KeptSession, type ReadOnlyStore } from '../../store/read-only-store.ts'
import type { SessionRepair } from '../../store/store-admin.ts'
import { systemErrorCode } from '../../system/system-error.ts'

export type CheckedSessions = {
  readonly findings: readonly Finding[]
  readonly mends: readonly SessionRepair[]
  /** The blobs that records refer to, each with one session that does. */
  readonly blobs: ReadonlyMap<BlobHash, SessionId>
  readonly sessions: number
  readonly records: number
}

/** Who works in the sessions while they are read. */
export type SessionsInUse = {
  readonly isHeld: boolean
  /** Whether a process that a session belongs to is there no more. */
  readonly isGone: (owner: string) => Promise<boolean>
}

const namedMax = 20

/** Reads every record of every session, and holds rows, heads and lineage against what the logs say. */
export async function checkSessions(
  source: ReadOnlyStore,
  { isHeld, isGone }: SessionsInUse,
): Promise<CheckedSessions> {
  const findings: Finding[] = []
  const mends: SessionRepair[] = []
  const blobs = new Map<BlobHash, SessionId>()
  const known = new Map<SessionId, Known>()
  const count = { sessions: 0, records: 0 }
  const orphans: KeptSession[] = []

  async function check(session: KeptSession): Promise<void> {
    const read = await readIfThere(session, source, blobs, isHeld)
    if (read === null) {
      known.set(session.id, { head: session.head, lost: [] }) // what forks share of it stays
      return
    }
    count.records += session.head - session.base
    const parent = session.parent === null ? null : known.get(session.parent)
    const shared = (parent?.lost ?? []).filter((seq) => seq <= session.base)
    known.set(session.id, { head: session.head, lost: [...shared, ...read.lost] })
    findings.push(...lineageFindings(session, parent))
    if (session.isPurged) return
    count.sessions += 1
    const lost = [...shared, ...read.lost].filter((seq) => !read.givenUp.has(seq))
    const canFold = read.entry !== null
    findings.push(...lossFindings(session.id, lost, read, canFold))
    const isStale = read.entry !== null && !isDeepStrictEqual(plain(read.entry), plain(session.entry))
    if (isStale || session.entry === null) findings.push(rowFinding(session, canFold))
    const snapshot = await snapshotFinding(session, source, isHeld)
    if (snapshot !== null) findings.push(snapshot)
    const isDeserted = session.owner !== null && (await isGone(session.owner))
    if (isDeserted) findings.push(ownerFinding(session, canFold))
    const dropsSnapshot = snapshot !== null || lost.length > 0
    if (read.entry !== null && (lost.length > 0 || isStale || snapshot !== null || isDeserted)) {
      const owner = isDeserted ? session.owner : null
      mends.push({ session: session.id, entry: read.entry, lost, dropsSnapshot, owner })
    }
  }

  for await (const session of everySession(source)) {
    if (session.parent !== null && !known.has(session.parent)) orphans.push(session)
    else await check(session)
  }
  for (const session of orphans) await check(session)
  return { findings, mends, blobs, ...count }
}

type Known = { readonly head: Seq; readonly lost: readonly Seq[] }

type ReadSession = {
  readonly lost: readonly Seq[]
  readonly givenUp: ReadonlySet<Seq>
  /** Null where the log cannot be folded. */
  readonly entry: CatalogueEntry | null
  readonly why: string | null
}

/** Null for a session that whoever has the store removed since its row was read. */
async function readIfThere(
  session: KeptSession,
  source: ReadOnlyStore,
  blobs: Map<BlobHash, SessionId>,
  isHeld: boolean,
): Promise<ReadSession | null> {
  try {
    const read = await readSession(session, source, blobs)
    if (read.why === null && read.lost.length === 0) return read
    const kept = await source.kept(session.id)
    return kept === null || kept.isPurged !== session.isPurged ? null : read
  } catch (cause) {
    if (isHeld && isOfNoFile(cause)) return null
    throw cause
  }
}

const isOfNoFile = (cause: unknown): boolean =>
  cause instanceof HoldfastError ? cause.details?.['reason'] === 'replaced' : systemErrorCode(cause) === 'ENOENT'

/** One pass over a session's own records: each by its checksum, and all of them folded anew. */
async function readSession(
  session: KeptSession,
  source: ReadOnlyStore,
  blobs: Map<BlobHash, SessionId>,
): Promise<ReadSession> {
  const { id, base, head } = session
  const lost: Seq[] = []
  const givenUp = new Set<Seq>()
  const read: ReadOnlyStore['read'] = async (_, { after, limit, upTo = head }) => {
    // Not beyond the head that its row was read with: others may have written since.
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
  const row = { entry: session.entry as CatalogueEntry, head, base, owner: null, trashedAt: null } // only its numbers are read
  try {
    const loaded = await loadSession({ read, entry: async () => row, loadSnapshot: async () => null }, id)
    const entry = loaded.ok ? loaded.value.row.entry : null
    return { lost, givenUp, entry, why: null }
  } catch (cause) {
    if (!(cause instanceof InvariantViolation)) throw cause
    return { lost, givenUp, entry: null, why: cause.message }
  }
}

/** As it is after a way through the disk: what is undefined is not there. */
const plain = (entry: CatalogueEntry | null): unknown => JSON.parse(JSON.stringify(entry))

function lineageFindings({ id, parent, base }: KeptSession, above: Known | null | undefined): readonly Finding[] {
  if (parent === null || above === null) return []
  if (above === undefined) {
    const what = `the session ${parent}, whose past it shares up to ${base}, is not there`
    return [error({ code: 'lineage', place: id, what })]
  }
  if (base <= above.head) return []
  return [error({ code: 'lineage', place: id, what: `it shares ${parent} up to ${base}, which ends at ${above.head}` })]
}

function lossFindings(id: SessionId, lost: readonly Seq[], read: ReadSession, canFold: boolean): readonly Finding[] {
  const findings: Finding[] = []
  if (lost.length > 0) {
    const what = `records cannot be read: ${listed(lost)}; until that is accepted the session is read-only`
    const loss = `${lost.length === 1 ? 'record' : 'records'} ${listed(lost)} of ${id}`
    findings.push(error({ code: 'lost_records', place: id, what, canMend: canFold, loss }))
  }
  const accepted = read.lost.filter((seq) => read.givenUp.has(seq))
  if (accepted.length > 0) {
    findings.push(info({ code: 'given_up_records', place: id, what: `records were given up: ${listed(accepted)}` }))
  }
  if (read.why !== null)
    findings.push(error({ code: 'unfoldable', place: id, what: `its records contradict each other: ${read.why}` }))
  return findings
}

const listed = (seqs: readonly Seq[]): string =>
  seqs.length <= namedMax ? seqs.join(', ') : `${seqs.slice(0, namedMax).join(', ')} and ${seqs.length - namedMax} more`

function rowFinding({ id, entry }: KeptSession, canMend: boolean): Finding {
  const what =
    entry === null ? 'its row in the catalogue cannot be read' : 'its row in the catalogue is not what its log says'
  return entry === null
    ? error({ code: 'row', place: id, what, canMend })
    : warning({ code: 'row', place: id, what, canMend })
}

/** Whoever writes saves folds of what was written since its head was read: those are not ahead. */
async function snapshotFinding(
  { id, head }: KeptSession,
  source: ReadOnlyStore,
  isHeld: boolean,
): Promise<Finding | null> {
  const snapshot = await source.snapshotOf(id)
  if (snapshot === null) return null
  if (snapshot === 'damaged') return warning({ code: 'snapshot', place: id, what: 'its stored fold is damaged' })
  return snapshot.seq > head && !isHeld
    ? warning({ code: 'snapshot', place: id, what: 'its stored fold is ahead of its log' })
    : null
}

const ownerFinding = ({ id, owner }: KeptSession, canMend: boolean): Finding =>
  warning({ code: 'dead_owner', place: id, what: `it belongs to ${owner}, a process that is gone`, canMend })
