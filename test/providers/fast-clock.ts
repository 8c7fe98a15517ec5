import type { Clock } from '@holdfast/core/ports'

/** The speed-up: two minutes pass in about one second. */
export const speedUp = 100

/** Creates a fast clock for sessions with a real network. */
export function createFastClock(): Clock {
  const began = performance.now()
  const epochMs = Date.UTC(2026, 0, 1)
  return {
    now: () => Math.floor(epochMs + (performance.now() - began) * speedUp),
    after(delayMs, call) {
      const timer = setTimeout(call, delayMs / speedUp)
      return () => clearTimeout(timer)
    },
  }
}
