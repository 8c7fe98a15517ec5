import { limits } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'

/** Reported when a session is unloaded although its aborted work has not ended. */
export class StillRunning extends Error {
  override readonly name = 'StillRunning'
  constructor() {
    super(`Work did not end within ${limits.stopWaitMs} ms after it was aborted, and may still run.`)
  }
}

/**
 * Resolves when the work has ended, or a while after its abort: work that ignores its signal must not block others for
 * ever. Returns whether it has ended.
 */
export function waitForWork(clock: Clock, signal: AbortSignal, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    let cancel = () => {}
    const giveUpLater = () => {
      cancel = clock.after(limits.stopWaitMs, () => resolve(false), { keepsAlive: true })
    }
    const end = () => {
      cancel()
      signal.removeEventListener('abort', giveUpLater)
      resolve(true)
    }
    if (signal.aborted) giveUpLater()
    else signal.addEventListener('abort', giveUpLater, { once: true })
    work.then(end, end)
  })
}
