import type { DatabaseSync } from 'node:sqlite'
import type { Event } from '@holdfast/protocol'
import { bodyText } from '../rows/compressed-body.ts'

/** Tells which tool a call was of, by the session and the call's seq, which may lie before a fork; null when unknown. */
export function createCallTool(database: DatabaseSync): (sid: number, call: number) => string | null {
  const body = database.prepare('select body from record where sid = ? and seq = ?')
  const lineage = database.prepare('select parent, base from session where sid = ?')

  function holderOf(sid: number, seq: number): number {
    const row = lineage.get(sid)
    if (row === undefined || row['parent'] === null || seq > Number(row['base'])) return sid
    return holderOf(Number(row['parent']), seq)
  }

  return (sid, call) => {
    const event = eventOf(body.get(holderOf(sid, call), call)?.['body'])
    return event?.type === 'call.requested' ? event.tool : null
  }
}

/** The event of a stored body; null where it is damaged. */
export function eventOf(body: unknown): Event | null {
  try {
    return JSON.parse(bodyText(body)) as Event // written by us
  } catch {
    return null
  }
}
