import { type Folded, fold } from '@holdfast/core'
import type { CatalogueEntry, EncodedRecord } from '@holdfast/core/ports'
import { type Event, eventVersion, invariant, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'
import { isHarmless } from './harmless.ts'

/** So many records are written at once, and as many more as it takes to come to rest. */
const batchRecords = 2000

/** A place where writing may pause: how many records come before it, and the row they fold to. */
export type Pause = { readonly count: number; readonly entry: CatalogueEntry }

/** The records of a session that was not lived here, each with the time it had there; folded as they are written. */
export interface Past {
  readonly session: SessionId
  /** Of a fork: the session it came from, and the last seq it shares with it. */
  readonly parent: SessionId | null
  readonly base: Seq
  readonly records: readonly EncodedRecord[]
  /** After the last record. */
  readonly folded: Folded
  /** Where a process that dies in between leaves a beginning that is at rest and trusts nothing; the last is the end. */
  readonly pauses: readonly Pause[]
  /** The seq the next record gets. */
  readonly next: Seq
  add(event: Event, at: number): Seq
  /** A record as it was, with the time and the names it had. Throws where the fold does. */
  addRecord(record: Recorded): void
}

type Beginning = { readonly session: SessionId; readonly parent: SessionId | null; readonly base: Seq }

/** The fold is the judge: what it would not accept of a living session, it does not accept of this one. */
export function createPast({ session, parent, base }: Beginning): Past {
  const records: EncodedRecord[] = []
  let folded: Folded | null = null
  const pauses: Pause[] = []
  const addRecord = (record: Recorded): void => {
    folded = fold(folded, session, record)
    records.push({ record, body: JSON.stringify(record.event) })
    const count = records.length
    if (count - (pauses.at(-1)?.count ?? 0) >= batchRecords && isHarmless(folded.state))
      pauses.push({ count, entry: folded.row.entry })
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
    get pauses() {
      invariant(folded, 'a session begins with a record')
      const before = pauses.filter(({ count }) => count < records.length)
      return [...before, { count: records.length, entry: folded.row.entry }]
    },
    add(event, at) {
      const seq = base + records.length + 1
      const whole = event.type === 'turn.ended' && folded ? { ...event, ...lengthOf(folded) } : event
      addRecord({ seq, at: new Date(at).toISOString(), v: eventVersion[event.type], event: whole })
      return seq
    },
  }
}

const lengthOf = ({ state }: Folded) => ({ messages: state.messages, tokens: state.tokens })
