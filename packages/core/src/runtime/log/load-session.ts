import {
  fault,
  InvariantViolation,
  invariant,
  limits,
  ok,
  type Recorded,
  type Result,
  refuse,
  type Seq,
  type SessionId,
  sessionNotFound,
} from '@holdfast/protocol'
import type { Catalogue } from '../../ports/store/catalogue.ts'
import type { Log, ReadRecord } from '../../ports/store/log.ts'
import type { Snapshots, StoredSnapshot } from '../../ports/store/store.ts'
import { evolve, foldNumber } from '../../session/evolve.ts'
import { emptySession, type SessionState } from '../../session/state.ts'
import { addToEntry, type EntryFold, newEntry } from '../../session/view.ts'
import type { RunInBackground } from '../background-tasks.ts'

/** The folds of a session: its state, and its row in the catalogue. */
export type Folded = { readonly state: SessionState; readonly row: EntryFold }

export type LoadedSession = Folded & {
  /** The seq of the stored snapshot; the next one is due some records later. */
  readonly snapshotSeq: Seq
  /** Unreadable records whose loss was not accepted yet. While there are any, the session is read-only. */
  readonly lost: readonly Seq[]
}

export type SessionSource = Pick<Log, 'read'> & Pick<Snapshots, 'loadSnapshot'> & Pick<Catalogue, 'entry'>

/** Folds one record into state and row. */
export function fold(folded: Folded | null, id: SessionId, record: Recorded): Folded {
  const { event, at, seq } = record
  if (folded === null) {
    invariant(event.type === 'session.started', `the log of ${id} begins with ${event.type}`)
    const state = evolve(emptySession(seq - 1), record)
    return { state, row: newEntry(id, at, event) }
  }
  const state = evolve(folded.state, record)
  return { state, row: addToEntry(folded.row, record, state) }
}

export const toSnapshot = (folded: Folded) => ({
  seq: folded.state.seq,
  fold: foldNumber,
  body: JSON.stringify(folded),
})

/** Folds a record after a lost one. A record that no longer fits is skipped, so that the rest can be shown. */
function foldDamaged(folded: Folded | null, id: SessionId, record: ReadRecord): Folded | null {
  if (folded === null) return null
  try {
    if (!('lost' in record)) return fold(folded, id, record)
  } catch (cause) {
    if (!(cause instanceof InvariantViolation)) throw cause
  }
  return { ...folded, state: { ...folded.state, seq: record.seq } }
}

/** Returns the folds of a snapshot; null if a store returned something else, because the log has all that is in it. */
function readSnapshot({ seq, body }: StoredSnapshot): Folded | null {
  try {
    const saved = JSON.parse(body) as Partial<Folded> | null // our own JSON of the same fold number, if the store is right
    return saved?.state?.seq === seq && saved.row ? (saved as Folded) : null
  } catch {
    return null
  }
}

/** Loads the folds of a session at its head: a snapshot and a short tail, however long the history is. */
export async function loadSession(source: SessionSource, id: SessionId): Promise<Result<LoadedSession>> {
  const [known, stored] = await Promise.all([source.entry(id), source.loadSnapshot(id, foldNumber)])
  if (known === null) return refuse(sessionNotFound(id, { session: id }))
  const saved = stored && readSnapshot(stored)
  let folded = saved
  let lost: Seq[] = []
  let after = folded?.state.seq ?? known.base
  while (after < known.head) {
    const range = { after, upTo: known.head, limit: limits.pageRecordsMax, charsMax: limits.readCharsMax }
    const page = await source.read(id, range)
    invariant(page.length > 0, `the log of ${id} ends at ${after}, before its head ${known.head}`)
    for (const record of page) {
      after = record.seq
      if ('lost' in record) lost.push(record.seq)
      folded = lost.length === 0 && !('lost' in record) ? fold(folded, id, record) : foldDamaged(folded, id, record)
      lost = lost.filter((seq) => !acceptsLoss(record, seq))
    }
  }
  if (folded === null) {
    return refuse(fault('log_damaged', `The first record of ${id} cannot be read.`, { session: id, lost }))
  }
  return ok({ ...folded, snapshotSeq: saved?.state.seq ?? known.base, lost })
}

/** Whether the record says that a person accepted the loss of record `lost`. */
export const acceptsLoss = (record: ReadRecord, lost: Seq): boolean =>
  !('lost' in record) && record.event.type === 'log.repaired' && record.event.lost.includes(lost)

/** Saves snapshots of the folds, so that the next load is fast. Losing one costs time, never data. */
export function createSnapshotAutosave(
  id: SessionId,
  { saveSnapshot }: Pick<Snapshots, 'saveSnapshot'>,
  storedSeq: Seq,
  inBackground: RunInBackground,
) {
  let savedSeq = storedSeq
  const save = (folded: Folded) => {
    savedSeq = folded.state.seq
    return saveSnapshot(id, toSnapshot(folded))
  }
  return {
    /** Saves in the background when enough records came since the last snapshot. */
    afterChange(folded: Folded): void {
      if (folded.state.seq - savedSeq < limits.snapshotEveryRecords) return
      inBackground(`snapshot of ${id}`, save(folded))
    },
    /** Saves if anything came since the last snapshot. Throws when the store does. */
    async finish(folded: Folded): Promise<void> {
      if (folded.state.seq > savedSeq) await save(folded)
    },
  }
}
