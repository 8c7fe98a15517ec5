import type { Clock } from '../ports/clock.ts'

type DelayOptions = {
  /** Ends the delay at once. */
  readonly signal: AbortSignal
  /** Whether the process stays alive for it, because work is under way. */
  readonly keepsAlive: boolean
}

/** Resolves after a delay, or at once on abort. */
export function abortableDelay(clock: Clock, delayMs: number, { signal, keepsAlive }: DelayOptions): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end, { keepsAlive })
    signal.addEventListener('abort', end)
  })
}
