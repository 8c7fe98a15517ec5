import type { DatabaseSync } from 'node:sqlite'
import type { Event } from '@holdfast/protocol'
import { searchedText } from '../../search/searched-event.ts'
import { decompressBody } from '../rows/compressed-body.ts'

export type IndexedEvent = { readonly event: Event; readonly text: string }

/** Returns the event of a stored body with its searchable text, or null if it is damaged. */
export function decodeIndexedEvent(body: unknown): IndexedEvent | null {
  try {
    const event = JSON.parse(decompressBody(body)) as Event // a damaged body may be JSON and no event
    return { event, text: searchedText(event) }
  } catch {
    return null
  }
}

/** Returns the tool of a call or of its result, or null for any other event. */
export type FindTool = (sid: number, event: Event) => string | null

export function createToolFinder(database: DatabaseSync): FindTool {
  const body = database.prepare('select body from record where sid = ? and seq = ?')
  const lineage = database.prepare('select parent, base from session where sid = ?')

  /** Returns the session that stores a seq: a call may have been requested before the fork. */
  function holderOf(sid: number, seq: number): number {
    const row = lineage.get(sid)
    if (row === undefined || row['parent'] === null || seq > Number(row['base'])) return sid
    return holderOf(Number(row['parent']), seq)
  }

  return (sid, event) => {
    if (event.type === 'call.requested') return event.tool
    if (event.type !== 'call.settled') return null
    const request = decodeIndexedEvent(body.get(holderOf(sid, event.call), event.call)?.['body'])?.event
    return request?.type === 'call.requested' ? request.tool : null
  }
}
