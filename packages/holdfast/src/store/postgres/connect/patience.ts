import { setTimeout as wait } from 'node:timers/promises'

/** How long a statement waits for a database that is away, and how it pauses between its attempts. */
export type Patience = {
  readonly patienceMs: number
  readonly pause?: ((ms: number) => Promise<unknown>) | undefined
  readonly now?: (() => number) | undefined
}

const patienceMsMax = 2000
const [firstPauseMs, pauseMsMax] = [25, 250]

/**
 * Returns how long statements of a node wait. Half a term at most: a node stops its effects after 0.62 of a term without the
 * database at the earliest, and a command should be answered before.
 */
export const patienceIn = (termMs: number): number => Math.min(patienceMsMax, termMs / 2)

/**
 * Runs work, and repeats it while the database is away: at once, then with growing pauses until the patience ends. `attempt`
 * counts from 1. Rejects with the last error, or with the first that has another reason.
 */
export async function untilBack<Value>(
  work: (attempt: number) => Promise<Value>,
  isAway: (error: unknown) => boolean,
  { patienceMs, pause = wait, now = () => performance.now() }: Patience,
): Promise<Value> {
  const startedAt = now()
  let pauseMs = 0
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work(attempt)
    } catch (error) {
      // The second attempt is free: it needs another connection and no time.
      const isOver = attempt > 1 && now() - startedAt + pauseMs > patienceMs
      if (!isAway(error) || isOver) throw error
    }
    if (pauseMs > 0) await pause(pauseMs)
    pauseMs = pauseMs === 0 ? firstPauseMs : Math.min(pauseMs * 2, pauseMsMax)
  }
}
