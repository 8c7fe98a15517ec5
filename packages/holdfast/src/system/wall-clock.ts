import type { Clock } from '@holdfast/core/ports'

/** The system clock. */
export const wallClock: Clock = {
  now: () => Date.now(),
  after(delayMs, call, { keepsAlive = false } = {}) {
    const timer = setTimeout(call, delayMs)
    if (!keepsAlive) timer.unref()
    return () => clearTimeout(timer)
  },
}
