import type { Event } from '@holdfast/protocol'
import { searchedText } from '../../search/searched-event.ts'
import type { Sql, SqlRow } from '../connect/connect.ts'

export type IndexedEvent = { readonly event: Event; readonly text: string }

/** Returns the event of a stored body with its searchable text, or null if it is damaged. */
export function decodeIndexedEvent(body: unknown): IndexedEvent | null {
  try {
    const event = JSON.parse(String(body)) as Event // a damaged body may be JSON and no event
    return { event, text: searchedText(event) }
  } catch {
    return null
  }
}

/** Returns the tool of each call and of each result, in order; null for any other event. */
export async function findTools(
  read: Sql,
  records: readonly { readonly row: SqlRow; readonly event: Event }[],
): Promise<readonly (string | null)[]> {
  const results = records.flatMap(({ row, event }) =>
    event.type === 'call.settled' ? [{ sid: Number(row['sid']), call: event.call }] : [],
  )
  const bodies =
    results.length === 0
      ? []
      : await read(
          `select @body_at(sid, seq) as body from unnest($1::bigint[], $2::bigint[]) with ordinality as asked (sid, seq, nth)
          order by nth`,
          [results.map(({ sid }) => sid), results.map(({ call }) => call)],
        )
  let next = 0
  return records.map(({ event }) => {
    if (event.type === 'call.requested') return event.tool
    if (event.type !== 'call.settled') return null
    const request = decodeIndexedEvent(bodies[next]?.['body'])?.event
    next += 1
    return request?.type === 'call.requested' ? request.tool : null
  })
}
