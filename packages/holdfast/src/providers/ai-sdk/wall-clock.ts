import type { Clock } from '@holdfast/core/ports'

/** The machine's own time, for whoever hands in no other. */
export const wallClock: Clock = {
  now: () => Date.now(),
  after: (delayMs, call) => {
    const timer = setTimeout(call, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
