/** Runs at most `max` functions in a turn of the event loop, in order; the others wait for the next turns. */
export function createSlices(max: number): (go: () => void) => void {
  const waiting: (() => void)[] = []
  let ran = 0
  let isTurning = false
  const turn = () => {
    const slice = waiting.splice(0, max)
    ran = slice.length
    isTurning = ran > 0
    if (isTurning) setImmediate(turn)
    for (const go of slice) go()
  }
  return (go) => {
    if (!isTurning) setImmediate(turn)
    isTurning = true
    if (ran >= max || waiting.length > 0) {
      waiting.push(go)
      return
    }
    ran++
    go()
  }
}
