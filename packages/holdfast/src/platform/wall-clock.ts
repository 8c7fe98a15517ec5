import type { Clock } from '@holdfast/core/ports'

/** The machine's own time. A waiting timer never keeps a process alive. */
export const wallClock: Clock = {
  now: () => Date.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
