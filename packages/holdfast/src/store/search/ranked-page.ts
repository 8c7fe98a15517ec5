import type { SearchHit } from '@holdfast/core/ports'
import { comparePlaces, encodeSearchCursor, type SearchCursor, type SearchPosition } from './search-cursor.ts'

/** The newest messages that match are ranked; beyond so many nobody looks. */
export const rankedMax = 1000

/** A message that matches, before it is known whether it is shown: what it is judged by. */
export type Candidate = Pick<SearchHit, 'session' | 'message'> & {
  readonly place: SearchPosition
  readonly score: number
  /** Asked of the few that are shown only. */
  readonly snippet: () => string
}

/** All that is shown of a message but some of its words. */
export type BareHit = Omit<SearchHit, 'snippet'>

/** A hit with what it takes to make one list of two: how good it is, and the cursor behind it. */
export type RankedHit = SearchHit & { readonly score: number; readonly behind: string }
export type RankedPage = { readonly hits: readonly RankedHit[]; readonly next: string | null }

type Page<Found> = {
  readonly limit: number
  readonly cursor: SearchCursor | null
  /** Asked of the few that are shown only; null of one that cannot be, as it is damaged. */
  readonly hitOf: (found: Found) => BareHit | null
}

/** The page behind the cursor of what matched, newest first: the best first, and of equals the newer. */
export function rankedPage<Found extends Candidate>(
  newestFirst: readonly Found[],
  { limit, cursor, hitOf }: Page<Found>,
): RankedPage {
  const top = cursor?.top ?? newestFirst[0]?.place ?? []
  const ranked = onePerMessage(newestFirst)
    .slice(0, rankedMax)
    .filter((candidate) => cursor === null || compare(candidate, cursor) > 0)
    .toSorted(compare)

  const hits: RankedHit[] = []
  let lookedAt = 0
  for (const candidate of ranked) {
    if (hits.length >= limit) break
    lookedAt += 1
    const hit = hitOf(candidate)
    if (hit === null) continue
    const { score, place } = candidate
    const behind = encodeSearchCursor({ top, score, place })
    hits.push({ ...hit, snippet: candidate.snippet(), score, behind })
  }
  return { hits, next: ranked.length > lookedAt ? (hits.at(-1)?.behind ?? null) : null }
}

type Rank = { readonly score: number; readonly place: SearchPosition }

/** Positive where `left` comes after `right`. */
const compare = (left: Rank, right: Rank): number => right.score - left.score || comparePlaces(right.place, left.place)

/** A call may be found by what it was asked and by what it returned; it is one message. */
export function onePerMessage<Found extends Candidate>(candidates: readonly Found[]): readonly Found[] {
  const seen = new Set<string>()
  return candidates.filter(({ session, message }) => {
    const name = `${session} ${message}`
    if (seen.has(name)) return false
    seen.add(name)
    return true
  })
}
