import { type Folded, fold, type SessionState } from '@holdfast/core'
import type { CatalogueEntry, EncodedRecord } from '@holdfast/core/ports'
import { type Event, eventVersion, invariant, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'

/** The minimum of records per write; a write ends at the next safe point. */
const batchRecords = 2000

/** A position where the import may stop: the number of records before it, and the entry they fold to. */
type SafePoint = { readonly count: number; readonly entry: CatalogueEntry }

/** The records of an imported session with their original times, folded as they are added. */
export interface ImportedLog {
  readonly session: SessionId
  /** For a fork: its parent, and the last seq it shares with it. */
  readonly parent: SessionId | null
  readonly base: Seq
  readonly records: readonly EncodedRecord[]
  /** The fold of all records. */
  readonly folded: Folded
  /** Positions where a crash leaves an idle session that trusts nothing; the last one is the end. */
  readonly safePoints: readonly SafePoint[]
  /** The seq the next record gets. */
  readonly next: Seq
  add(event: Event, at: number): Seq
  /** Adds an original record unchanged. Throws if it does not fold. */
  addRecord(record: Recorded): void
}

type LogStart = { readonly session: SessionId; readonly parent: SessionId | null; readonly base: Seq }

/** Creates an empty log. The fold validates each record as for any other session. */
export function createImportedLog({ session, parent, base }: LogStart): ImportedLog {
  const records: EncodedRecord[] = []
  let folded: Folded | null = null
  const safePoints: SafePoint[] = []
  const addRecord = (record: Recorded): void => {
    folded = fold(folded, session, record)
    records.push({ record, body: JSON.stringify(record.event) })
    const count = records.length
    if (count - (safePoints.at(-1)?.count ?? 0) >= batchRecords && isSafeToOpen(folded.state))
      safePoints.push({ count, entry: folded.row.entry })
  }
  return {
    ...{ session, parent, base, records, addRecord },
    get next() {
      return base + records.length + 1
    },
    get folded() {
      invariant(folded, 'a session begins with a record')
      return folded
    },
    get safePoints() {
      invariant(folded, 'a session begins with a record')
      const before = safePoints.filter(({ count }) => count < records.length)
      return [...before, { count: records.length, entry: folded.row.entry }]
    },
    add(event, at) {
      const seq = base + records.length + 1
      const complete = event.type === 'turn.ended' && folded ? { ...event, ...getLineLength(folded) } : event
      addRecord({ seq, at: new Date(at).toISOString(), v: eventVersion[event.type], event: complete })
      return seq
    },
  }
}

const getLineLength = ({ state }: Folded) => ({ messages: state.messages, tokens: state.tokens })

/** Returns whether the settings let a call run without asking. */
export const allowsWithoutAsking = ({ approvals, permissions = [] }: SessionState['settings']): boolean =>
  approvals === 'none' || permissions.some(({ verdict }) => verdict === 'allow')

/** Returns whether opening the session runs nothing: it is idle and has no standing approval. */
export const isSafeToOpen = ({ turn, queue, trust, settings }: SessionState): boolean =>
  turn.phase === 'idle' && queue.length === 0 && trust.length === 0 && !allowsWithoutAsking(settings)
