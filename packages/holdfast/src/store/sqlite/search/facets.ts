import { crc32 } from 'node:zlib'
import type { SearchRole } from '@holdfast/protocol'
import { dayMs } from '@holdfast/protocol/age'

/**
 * What a search can be narrowed by, as words of their own in the index: met with the words that are looked for, they
 * keep a common word in a rare place from walking through every message. They start with a mark that no word has. A
 * checksum may stand for two names, and a day is not a moment: what is found is held against the rows afterwards.
 */
export const facets = {
  role: (role: SearchRole): string => `:r${role}`,
  tool: (tool: string): string => `:t${hashOf(tool)}`,
  workspace: (workspace: string): string => `:w${hashOf(workspace)}`,
  session: (sid: number): string => `:n${sid}`,
  /** A day, its month and its year: any stretch of time is a few of them. */
  moment: (at: string): readonly string[] => {
    const day = dayOf(Date.parse(at))
    return day === null ? [] : [`:y${day.slice(0, 4)}`, `:m${day.slice(0, 6)}`, `:d${day}`]
  },
}

const hashOf = (text: string): string => crc32(text).toString(16)

const first = Date.UTC(1970, 0, 1)
const last = Date.UTC(2200, 0, 1)

/** The days, months and years that cover a stretch of time; null when it is all of it. */
export function momentsWithin(sinceMs: number | null, untilMs: number | null): readonly string[] | null {
  if (sinceMs === null && untilMs === null) return null
  const end = Math.min(untilMs ?? last, last)
  const words: string[] = []
  let at = startOfDay(Math.max(sinceMs ?? first, first))
  while (at < end) {
    const date = new Date(at)
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
    const [nextYear, nextMonth] = [Date.UTC(year + 1, 0, 1), Date.UTC(year, month + 1, 1)]
    const day = dayOf(at) ?? ''
    if (at === Date.UTC(year, 0, 1) && nextYear <= end) {
      words.push(`:y${day.slice(0, 4)}`)
      at = nextYear
    } else if (at === Date.UTC(year, month, 1) && nextMonth <= end) {
      words.push(`:m${day.slice(0, 6)}`)
      at = nextMonth
    } else {
      words.push(`:d${day}`)
      at += dayMs
    }
  }
  return words
}

const startOfDay = (ms: number): number => ms - (((ms % dayMs) + dayMs) % dayMs)

/** `20260115`, or null of a moment that is none, or that no stretch is asked for. */
const dayOf = (ms: number): string | null =>
  ms >= first && ms < last ? new Date(ms).toISOString().slice(0, 10).replaceAll('-', '') : null
