import type { Clock } from '@holdfast/core/ports'

export const wallClock: Clock = {
  now: () => Date.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
