import { type Candidate, dropRepeatedMessages } from './ranked-page.ts'
import { comparePositions, type SearchPosition } from './search-cursor.ts'

/** Collects the newest messages of a scan that visits them in any order. Holds at most twice as many as are ranked. */
export interface NewestFound<Found extends Candidate> {
  /** Returns whether enough newer messages are known that this one would not be ranked. */
  isTooOld(place: SearchPosition): boolean
  add(found: Found): void
  /** Returns one match for each message, newest first. */
  all(): readonly Found[]
}

export function createNewestFound<Found extends Candidate>(max: number): NewestFound<Found> {
  let found: Found[] = []
  let oldest: SearchPosition | null = null

  /** A dropped match can never return: later ones only push it further back. */
  function dropOld(): void {
    const newestFirst = found.toSorted((left, right) => comparePositions(right.place, left.place))
    found = dropRepeatedMessages(newestFirst).slice(0, max)
    oldest = found.length === max ? (found.at(-1)?.place ?? null) : null
  }

  return {
    isTooOld: (place) => oldest !== null && comparePositions(place, oldest) < 0,
    add(one) {
      found.push(one)
      if (found.length >= 2 * max) dropOld()
    },
    all() {
      dropOld()
      return found
    },
  }
}
