import { type Folded, fold } from '@holdfast/core'
import type { EncodedRecord } from '@holdfast/core/ports'
import { type Event, eventVersion, invariant, type Recorded, type Seq, type SessionId } from '@holdfast/protocol'

/** The records of a session that was not lived here, each with the time it had there; folded as they are written. */
export interface Past {
  readonly session: SessionId
  /** Of a fork: the session it came from, and the last seq it shares with it. */
  readonly parent: SessionId | null
  readonly base: Seq
  readonly records: readonly EncodedRecord[]
  /** After the last record, and after the first. */
  readonly folded: Folded
  readonly begun: Folded
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
  let begun: Folded | null = null
  const addRecord = (record: Recorded): void => {
    folded = fold(folded, session, record)
    begun ??= folded
    records.push({ record, body: JSON.stringify(record.event) })
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
    get begun() {
      invariant(begun, 'a session begins with a record')
      return begun
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
