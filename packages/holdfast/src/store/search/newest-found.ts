import { type Candidate, onePerMessage } from './ranked-page.ts'
import { comparePlaces, type SearchPosition } from './search-cursor.ts'

/** The newest messages of a scan that meets them in any order: never more than twice as many as are ranked are held. */
export interface NewestFound<Found extends Candidate> {
  /** Whether so many newer ones are known already that this one would not be ranked. */
  isTooOld(place: SearchPosition): boolean
  add(found: Found): void
  /** Newest first, one for each message. */
  all(): readonly Found[]
}

export function createNewestFound<Found extends Candidate>(max: number): NewestFound<Found> {
  let held: Found[] = []
  let oldest: SearchPosition | null = null

  /** One that is dropped stays dropped: what comes later only pushes it further back. */
  function dropOld(): void {
    const newestFirst = held.toSorted((left, right) => comparePlaces(right.place, left.place))
    held = onePerMessage(newestFirst).slice(0, max)
    oldest = held.length === max ? (held.at(-1)?.place ?? null) : null
  }

  return {
    isTooOld: (place) => oldest !== null && comparePlaces(place, oldest) < 0,
    add(found) {
      held.push(found)
      if (held.length >= 2 * max) dropOld()
    },
    all() {
      dropOld()
      return held
    },
  }
}
