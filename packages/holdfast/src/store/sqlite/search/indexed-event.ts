import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Event, SearchRole } from '@holdfast/protocol'
import { dayMs } from '@holdfast/protocol/age'
import { searchedText } from '../../search/searched-event.ts'
import { decompressBody } from '../rows/columns.ts'

/** Returns the event of a stored body with its searchable text, or null if it is damaged. */
export function decodeIndexedEvent(body: unknown): { readonly event: Event; readonly text: string } | null {
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

/**
 * The filters of a search as tokens in the index, which no word can equal. Two names may share a checksum, and a day is
 * not a moment, so every match is compared with its row afterwards.
 */
export const filterTokens = {
  role: (role: SearchRole): string => `:r${role}`,
  tool: (tool: string): string => `:t${hashOf(tool)}`,
  workspace: (workspace: string): string => `:w${hashOf(workspace)}`,
  session: (sid: number): string => `:n${sid}`,
  /** The day, its month and its year: a few such tokens cover any time range. */
  time: (at: string): readonly string[] => {
    const day = dayOf(Date.parse(at))
    return day === null ? [] : [`:y${day.slice(0, 4)}`, `:m${day.slice(0, 6)}`, `:d${day}`]
  },
}

const hashOf = (text: string): string => crc32(text).toString(16)

const first = Date.UTC(1970, 0, 1)
const last = Date.UTC(2200, 0, 1)

/** Returns the days, months and years that cover a time range, or null if it has no limits. */
export function timeTokensBetween(sinceMs: number | null, untilMs: number | null): readonly string[] | null {
  if (sinceMs === null && untilMs === null) return null
  const end = Math.min(untilMs ?? last, last)
  const tokens: string[] = []
  let at = startOfDay(Math.max(sinceMs ?? first, first))
  while (at < end) {
    const date = new Date(at)
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    const [nextYear, nextMonth] = [Date.UTC(year + 1, 0, 1), Date.UTC(year, month + 1, 1)]
    const day = dayOf(at) ?? ''
    if (at === Date.UTC(year, 0, 1) && nextYear <= end) {
      tokens.push(`:y${day.slice(0, 4)}`)
      at = nextYear
    } else if (at === Date.UTC(year, month, 1) && nextMonth <= end) {
      tokens.push(`:m${day.slice(0, 6)}`)
      at = nextMonth
    } else {
      tokens.push(`:d${day}`)
      at += dayMs
    }
  }
  return tokens
}

const startOfDay = (ms: number): number => ms - (((ms % dayMs) + dayMs) % dayMs)

/** Returns `20260115`, or null for an invalid time or one out of range. */
const dayOf = (ms: number): string | null =>
  ms >= first && ms < last ? new Date(ms).toISOString().slice(0, 10).replaceAll('-', '') : null
