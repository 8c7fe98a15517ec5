/**
 * Runs functions in this slice, or in one of the next. `weight` is how much of a slice one takes. `current` returns the
 * number of the current slice.
 */
export type Slices = { run(go: () => void, weight?: number): void; current(): number }

const removedTogether = 4096

/** Runs functions of a weight of at most `max` together in a slice, in order; the others wait. */
export function createSlices(max: number): Slices {
  let waiting: { readonly go: () => void; readonly weight: number }[] = []
  /** How many of them have run. They are removed together: to move the others for each slice takes longer than to run it. */
  let done = 0
  let ran = 0
  let isBusy = false
  let number = 0
  const begin = () => {
    number += 1
    ran = 0
    let end = done
    for (let next = waiting[end]; next && (ran === 0 || ran + next.weight <= max); next = waiting[end]) {
      ran += next.weight
      end += 1
    }
    isBusy = end > done
    if (isBusy) setImmediate(begin)
    const slice = waiting.slice(done, end)
    done = end
    if (done === waiting.length || done >= removedTogether) {
      waiting = waiting.slice(done)
      done = 0
    }
    for (const { go } of slice) go()
  }
  return {
    current: () => number,
    run(go, weight = 1) {
      if (!isBusy) setImmediate(begin)
      isBusy = true
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
export function createPlaces(max: number, nextSlice: (go: () => void) => void) {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    async take(): Promise<void> {
      if (taken < max) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    leave(): void {
      const next = waiting.shift()
      if (next) nextSlice(next)
      else taken -= 1
    },
  }
}

type Places = ReturnType<typeof createPlaces>

/** Keeps a place until the end of a slice, and longer while something is read in it. One read at a time. */
export function createSlicePlace(places: Places, nextSlice: (go: () => void) => void) {
  let state: 'outside' | 'reading' | 'between' | 'reading past its slice' = 'outside'
  const leave = () => {
    state = 'outside'
    places.leave()
  }
  const endSlice = () => {
    if (state === 'between') leave()
    else if (state === 'reading') state = 'reading past its slice'
  }
  return {
    async enter(): Promise<void> {
      if (state === 'outside') {
        await places.take()
        nextSlice(endSlice)
      }
      state = 'reading'
    },
    /** Ends a read. The next one has the same place if it begins in this slice. */
    pause(): void {
      if (state === 'reading past its slice') leave()
      else state = 'between'
    },
  }
}
