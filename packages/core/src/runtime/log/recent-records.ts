import type { EventType, Recorded, SessionId } from '@holdfast/protocol'
import type { EncodedRecord, Log, ReadRange } from '../../ports/store/log.ts'
import type { RecentRecords } from '../dependencies.ts'

/** Thrown when a record is asked for that is not held. */
export class NotHeld extends Error {
  override readonly name = 'NotHeld'
}

/** A record with its event as text only: the object would take as much memory again. */
type HeldRecord = { readonly head: Omit<Recorded, 'event'>; readonly type: EventType; readonly body: string }
type Held = { readonly records: readonly HeldRecord[]; readonly chars: number }

const hold = ({ record: { event, ...head }, body }: EncodedRecord): HeldRecord => ({ head, type: event.type, body })

/** A longer window takes long enough to be read on another thread. */
const sessionCharsMax = 64 * 1024
const charsMaxDefault = 4 * 1024 * 1024

export function createRecentRecords(charsMax: number = charsMaxDefault): RecentRecords {
  /** The session that was used longest ago comes first. */
  const sessions = new Map<SessionId, Held>()
  let chars = 0

  function forget(session: SessionId): void {
    chars -= sessions.get(session)?.chars ?? 0
    sessions.delete(session)
  }

  return {
    add(session, added) {
      const before = sessions.get(session)?.records ?? []
      forget(session)
      const isNext = before.length === 0 || before.at(-1)?.head.seq === (added[0]?.record.seq ?? 0) - 1
      const held = newest([...(isNext ? before : []), ...added.map(hold)])
      sessions.set(session, held)
      chars += held.chars
      for (const [oldest] of sessions) {
        if (chars <= charsMax) break
        forget(oldest)
      }
    },
    logOf(session, writing) {
      const held = sessions.get(session)?.records ?? []
      const last = held.at(-1)?.head.seq ?? 0
      // They may be durable by now, and held already.
      const all = [...held, ...writing.filter(({ record }) => record.seq > last).map(hold)]
      return all.length === 0 ? null : { read: async (_, range) => readFrom(all, range), readRefs }
    },
  }
}

/** Returns the newest records that are short enough together. */
function newest(all: readonly HeldRecord[]): Held {
  let [from, chars] = [all.length, 0]
  while (from > 0 && chars + (all[from - 1]?.body.length ?? 0) <= sessionCharsMax) {
    from--
    chars += all[from]?.body.length ?? 0
  }
  return { records: all.slice(from), chars }
}

function readFrom(all: readonly HeldRecord[], { after, upTo, limit, newestFirst, types }: ReadRange): Recorded[] {
  const [first, last] = [all[0]?.head.seq ?? 0, all.at(-1)?.head.seq ?? 0]
  const to = upTo ?? last
  if (after + 1 < first || to > last) throw new NotHeld(`records ${after + 1} to ${to} are not all held`)
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
