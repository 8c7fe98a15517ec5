import type { Clock } from '@holdfast/core/ports'

/** The speed-up: two minutes pass in about one second. */
export const haste = 100

/** Creates a fast clock for sessions with a real network. */
export function createHurriedClock(): Clock {
  const began = performance.now()
  const epochMs = Date.UTC(2026, 0, 1)
  return {
    now: () => Math.floor(epochMs + (performance.now() - began) * haste),
    after(delayMs, call) {
      const timer = setTimeout(call, delayMs / haste)
      return () => clearTimeout(timer)
    },
  }
}
