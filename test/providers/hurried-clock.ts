import type { Clock } from '@holdfast/core/ports'

/** How much faster than the wall's it goes: patience of two minutes is over in one second, and a wait of one in 10 ms. */
export const haste = 100

/** Time that hurries: for sessions that really talk over a network, and may not wait as long as real ones do. */
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
