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
