import { badCursor, type SearchHit, type SearchPage } from '@holdfast/core/ports'
import { ok, type Result, refuse } from '@holdfast/protocol/result'

/** Only so many of the newest matching messages are ranked. */
export const rankedMax = 1000

/** A matching message, before it is known whether it is on the page. */
export type Candidate = Pick<SearchHit, 'session' | 'message'> & {
  readonly position: SearchPosition
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
  const top = cursor?.top ?? newestFirst[0]?.position ?? []
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
    const { score, position } = candidate
    const behind = encodeSearchCursor({ top, score, position })
    hits.push({ ...hit, snippet: candidate.snippet(), score, behind })
  }
  return { hits, next: ranked.length > readCount ? (hits.at(-1)?.behind ?? null) : null }
}

type Rank = { readonly score: number; readonly position: SearchPosition }

/** Positive if `left` comes after `right`. */
const compareRanks = (left: Rank, right: Rank): number =>
  right.score - left.score || comparePositions(right.position, left.position)

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

/** Collects the newest messages of a scan that visits them in any order. Holds at most twice as many as are ranked. */
export function createNewestFound<Found extends Candidate>(max: number) {
  let found: Found[] = []
  let oldest: SearchPosition | null = null

  /** A dropped match can never return: later ones only push it further back. */
  function dropOld(): void {
    const newestFirst = found.toSorted((left, right) => comparePositions(right.position, left.position))
    found = dropRepeatedMessages(newestFirst).slice(0, max)
    oldest = found.length === max ? (found.at(-1)?.position ?? null) : null
  }

  return {
    /** Returns whether enough newer messages are known that this one would not be ranked. */
    isTooOld: (position: SearchPosition): boolean => oldest !== null && comparePositions(position, oldest) < 0,
    add(one: Found): void {
      found.push(one)
      if (found.length >= 2 * max) dropOld()
    },
    /** Returns one match for each message, newest first. */
    all(): readonly Found[] {
      dropOld()
      return found
    },
  }
}

/** The position of a record in a store: numbers, compared one after the other. A newer record has a higher position. */
export type SearchPosition = readonly number[]

/** The end of a page. `top` is the newest message of the first page: newer messages do not move the pages. */
type SearchCursor = { readonly top: SearchPosition; readonly score: number; readonly position: SearchPosition }

/** Positive if `left` is newer. */
export function comparePositions(left: SearchPosition, right: SearchPosition): number {
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

const encodeSearchCursor = ({ top, score, position }: SearchCursor): string =>
  `${top.join('-')}.${score}.${position.join('-')}`

export const searchCursorForm = /^([\d-]{1,50})\.(\d{1,9})\.([\d-]{1,50})$/

/** `numbers` is the length of a position in this store. */
export function decodeSearchCursor(cursor: string | undefined, numbers: number): Result<SearchCursor | null> {
  if (cursor === undefined) return ok(null)
  const [, top, score, position] = searchCursorForm.exec(cursor) ?? []
  if (top === undefined || score === undefined || position === undefined) return refuse(badCursor(cursor))
  const decoded = { top: parsePosition(top), score: Number(score), position: parsePosition(position) }
  const isValid = [decoded.top, decoded.position].every(
    (one) => one.length === numbers && one.every(Number.isSafeInteger),
  )
  return isValid ? ok(decoded) : refuse(badCursor(cursor))
}

const parsePosition = (text: string): SearchPosition =>
  text.split('-').map((number) => (number === '' ? Number.NaN : Number(number)))
