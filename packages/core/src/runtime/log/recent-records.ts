import type { EventType, Recorded, Seq, SessionId } from '@holdfast/protocol'
import type { EncodedRecord, Log, ReadRange } from '../../ports/store/log.ts'
import type { RecentRecords } from '../dependencies.ts'

/** Thrown when a record is asked for that is not held. */
export class NotHeld extends Error {
  override readonly name = 'NotHeld'
}

/** A record with its event as text only: the object would take as much memory again. */
type HeldRecord = { readonly head: Omit<Recorded, 'event'>; readonly type: EventType; readonly body: string }
type Held = {
  /** The first seq whose record is known. */
  readonly from: Seq
  readonly records: readonly HeldRecord[]
  readonly chars: number
}

const hold = ({ record: { event, ...head }, body }: EncodedRecord): HeldRecord => ({ head, type: event.type, body })

/** A longer window takes long enough to be read on another thread. */
const sessionCharsMax = 64 * 1024
const charsMaxDefault = 4 * 1024 * 1024
const sessionsMax = 256

export function createRecentRecords(charsMax: number = charsMaxDefault): RecentRecords {
  /** The session that was used longest ago comes first. */
  const sessions = new Map<SessionId, Held>()
  let chars = 0

  function forget(session: SessionId): void {
    chars -= sessions.get(session)?.chars ?? 0
    sessions.delete(session)
  }

  function keep(session: SessionId, held: Held): void {
    forget(session)
    sessions.set(session, held)
    chars += held.chars
    for (const [oldest] of sessions) {
      if (chars <= charsMax && sessions.size <= sessionsMax) break
      forget(oldest)
    }
  }

  return {
    begin: (session) => keep(session, { from: 1, records: [], chars: 0 }),
    add(session, added) {
      const before = sessions.get(session)
      const first = added[0]?.record.seq ?? 0
      const isNext = before !== undefined && (before.records.at(-1)?.head.seq ?? 1) === first - 1
      const all = [...(isNext ? before.records : []), ...added.map(hold)]
      keep(session, newest(all, isNext ? before.from : first))
    },
    logOf(session, writing) {
      const held = sessions.get(session)
      const last = held?.records.at(-1)?.head.seq ?? held?.from ?? 0
      // They may be durable by now, and held already.
      const more = writing.filter(({ record }) => record.seq > last).map(hold)
      // Another process may have written in between.
      const isNext = more[0] === undefined || more[0].head.seq === last + 1
      const all = [...(held && isNext ? held.records : []), ...more]
      const from = held && isNext ? held.from : more[0]?.head.seq
      return from === undefined ? null : { read: async (_, range) => readFrom(all, from, range), readRefs }
    },
  }
}

/** Returns the newest records that are short enough together. */
function newest(all: readonly HeldRecord[], known: Seq): Held {
  let [start, chars] = [all.length, 0]
  while (start > 0 && chars + (all[start - 1]?.body.length ?? 0) <= sessionCharsMax) {
    start--
    chars += all[start]?.body.length ?? 0
  }
  const from = start === 0 ? known : (all[start - 1]?.head.seq ?? 0) + 1
  return { from, records: all.slice(start), chars }
}

function readFrom(
  all: readonly HeldRecord[],
  from: Seq,
  { after, upTo, limit, newestFirst, types }: ReadRange,
): Recorded[] {
  const last = all.at(-1)?.head.seq ?? 0
  const to = upTo ?? last
  if (after + 1 < from || to > last) throw new NotHeld(`records ${after + 1} to ${to} are not all held`)
  const found = all.filter(
    ({ head: { seq }, type }) => seq > after && seq <= to && (types === undefined || types.includes(type)),
  )
  const page = (newestFirst ? found.toReversed() : found).slice(0, limit)
  // As a store reads it: the text that is written decides, not the object that it was made of.
  return page.map(({ head, body }) => ({ ...head, event: JSON.parse(body) }))
}

const readRefs: Log['readRefs'] = async () => {
  throw new NotHeld('the records about a call are not held together')
}
