import type { Clock } from '../ports/clock.ts'

/** Resolves when the time is over, or at once when someone aborts. Work is under way, so the program is not done meanwhile. */
export function abortableDelay(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end, { keepsAlive: true })
    signal.addEventListener('abort', end)
  })
}
