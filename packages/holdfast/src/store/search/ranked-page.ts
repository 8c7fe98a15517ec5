import type { SearchHit, SearchPage } from '@holdfast/core/ports'
import { comparePositions, encodeSearchCursor, type SearchCursor, type SearchPosition } from './search-cursor.ts'

/** Only so many of the newest matching messages are ranked. */
export const rankedMax = 1000

/** A matching message, before it is known whether it is on the page. */
export type Candidate = Pick<SearchHit, 'session' | 'message'> & {
  readonly place: SearchPosition
  readonly score: number
  /** Called only for the hits on the page. */
  readonly snippet: () => string
}

/** A hit without its snippet and rank. */
export type HitHeader = Omit<SearchHit, 'snippet' | 'score' | 'behind'>

type PageOptions<Found> = {
  readonly limit: number
  readonly cursor: SearchCursor | null
  /** Called only for the hits on the page. Returns null for a damaged record. */
  readonly readHit: (found: Found) => HitHeader | null
}

/** Returns the page after the cursor: best score first, then newest first. */
export function rankPage<Found extends Candidate>(
  newestFirst: readonly Found[],
  { limit, cursor, readHit }: PageOptions<Found>,
): SearchPage {
  const top = cursor?.top ?? newestFirst[0]?.place ?? []
  const ranked = dropRepeatedMessages(newestFirst)
    .slice(0, rankedMax)
    .filter((candidate) => cursor === null || compareRanks(candidate, cursor) > 0)
    .toSorted(compareRanks)

  const hits: SearchHit[] = []
  let readCount = 0
  for (const candidate of ranked) {
    if (hits.length >= limit) break
    readCount += 1
    const hit = readHit(candidate)
    if (hit === null) continue
    const { score, place } = candidate
    const behind = encodeSearchCursor({ top, score, place })
    hits.push({ ...hit, snippet: candidate.snippet(), score, behind })
  }
  return { hits, next: ranked.length > readCount ? (hits.at(-1)?.behind ?? null) : null }
}

type Rank = { readonly score: number; readonly place: SearchPosition }

/** Positive if `left` comes after `right`. */
const compareRanks = (left: Rank, right: Rank): number =>
  right.score - left.score || comparePositions(right.place, left.place)

/** A call may match by its arguments and by its result; it is one message. */
export function dropRepeatedMessages<Found extends Candidate>(candidates: readonly Found[]): readonly Found[] {
  const seen = new Set<string>()
  return candidates.filter(({ session, message }) => {
    const name = `${session} ${message}`
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}
