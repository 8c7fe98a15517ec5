/**
 * Runs functions in this turn of the event loop, or in one of the next. `weight` is how much of a turn one takes. Returns
 * the number of the current turn.
 */
export type Slices = { run(go: () => void, weight?: number): void; turn(): number }

/** Runs functions of a weight of at most `max` together in a turn of the event loop, in order; the others wait. */
export function createSlices(max: number): Slices {
  let waiting: { readonly go: () => void; readonly weight: number }[] = []
  let ran = 0
  let isTurning = false
  let number = 0
  const turn = () => {
    number += 1
    ran = 0
    let count = 0
    for (const { weight } of waiting) {
      if (ran > 0 && ran + weight > max) break
      ran += weight
      count += 1
    }
    const slice = waiting.slice(0, count)
    waiting = waiting.slice(count)
    isTurning = count > 0
    if (isTurning) setImmediate(turn)
    for (const { go } of slice) go()
  }
  return {
    turn: () => number,
    run(go, weight = 1) {
      if (!isTurning) setImmediate(turn)
      isTurning = true
      if (waiting.length > 0 || (ran > 0 && ran + weight > max)) {
        waiting.push({ go, weight })
        return
      }
      ran += weight
      go()
    },
  }
}

/** Gives a number of places to those that wait, in order. */
export function createPlaces(max: number, nextTurn: (go: () => void) => void) {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    async take(): Promise<void> {
      if (taken < max) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    leave(): void {
      const next = waiting.shift()
      if (next) nextTurn(next)
      else taken -= 1
    },
  }
}

type Places = ReturnType<typeof createPlaces>

/** Keeps a place until the event loop turns, and longer while something is read in it. One read at a time. */
export function createTurnPlace(places: Places, nextTurn: (go: () => void) => void) {
  let state: 'outside' | 'reading' | 'between' | 'reading past its turn' = 'outside'
  const leave = () => {
    state = 'outside'
    places.leave()
  }
  const endTurn = () => {
    if (state === 'between') leave()
    else if (state === 'reading') state = 'reading past its turn'
  }
  return {
    async enter(): Promise<void> {
      if (state === 'outside') {
        await places.take()
        nextTurn(endTurn)
      }
      state = 'reading'
    },
    /** Ends a read. The next one has the same place if it begins in this turn. */
    pause(): void {
      if (state === 'reading past its turn') leave()
      else state = 'between'
    },
  }
}
