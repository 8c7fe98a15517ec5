import type { Clock } from '@holdfast/core/ports'

type Timer = { readonly dueMs: number; readonly order: number; readonly call: () => void }

/** A clock that a test moves. */
export type VirtualClock = Clock & {
  /** Advances time and runs due timers in order. */
  advance(byMs: number): void
  /** Returns the time until the next timer; null if there is none. */
  nextMs(): number | null
}

/** Creates a clock that moves only by `advance`. */
export function createVirtualClock(startMs = Date.UTC(2026, 0, 1)): VirtualClock {
  let nowMs = startMs
  let order = 0
  const timers = new Set<Timer>()
  const due = (): Timer | undefined =>
    [...timers].sort((left, right) => left.dueMs - right.dueMs || left.order - right.order)[0]

  return {
    now: () => nowMs,
    after(delayMs, call) {
      const timer = { dueMs: nowMs + delayMs, order: order++, call }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    advance(byMs) {
      const until = nowMs + byMs
      for (let next = due(); next !== undefined && next.dueMs <= until; next = due()) {
        timers.delete(next)
        nowMs = next.dueMs
        next.call()
      }
      nowMs = until
    },
    nextMs() {
      const next = due()
      return next === undefined ? null : next.dueMs - nowMs
    },
  }
}
