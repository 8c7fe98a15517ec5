import { limits, type ModelFault } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { ModelEnd } from '../../ports/provider.ts'

/** How a call of a model ended, and whether it did before anything of an answer came. */
export type Tried = { readonly end: ModelEnd; readonly isSilent: boolean }

/** What became of a try, and when the next begins. */
export type Retry = {
  /** How many were made by now. */
  readonly tries: number
  readonly fault: ModelFault
  readonly happened?: string | undefined
  readonly waitMs: number
}

export type RetryOptions = {
  readonly clock: Clock
  /** Ends a wait at once. What is then returned is of no interest to whoever aborted. */
  readonly signal: AbortSignal
  /** The same seed waits the same. */
  readonly seed: string
  /** Told before each wait, which begins when it has been heard. */
  readonly announce?: ((retry: Retry) => Promise<unknown>) | undefined
}

/** Calls a model, and calls it again where it could not take the call, as long as nothing of an answer has come. */
export async function withRetries<Came extends Tried>(
  { clock, signal, seed, announce }: RetryOptions,
  call: () => Promise<Came>,
): Promise<Came> {
  for (let tries = 1; ; tries++) {
    const came = await call()
    const { end, isSilent } = came
    const waitMs = end.type === 'failed' && isSilent ? retryWaitMs(end, tries, seed) : null
    if (end.type !== 'failed' || waitMs === null || signal.aborted) return came
    await announce?.({ tries, fault: end.fault, happened: end.happened, waitMs })
    await abortableDelay(clock, waitMs, signal)
    if (signal.aborted) return came
  }
}

type Failed = Extract<ModelEnd, { readonly type: 'failed' }>

/**
 * How long to wait until a call that failed is tried again, after so many tries; null when it is not. It is twice
 * as long each time, give or take a quarter: who was turned away together does not come back together. The same seed waits
 * the same. A service that names a longer time is obeyed; one that names a shorter would be asked all tries at once.
 */
export function retryWaitMs({ retryable, retryAfterMs }: Failed, tries: number, seed: string): number | null {
  if (!retryable || tries > limits.retriesMax) return null
  const ownMs = Math.round(limits.retryWaitMs * 2 ** (tries - 1) * spread(`${seed}:${tries}`))
  const waitMs = Math.max(retryAfterMs ?? 0, ownMs)
  return waitMs > limits.retryWaitMsMax ? null : waitMs
}

/** From three quarters to five, evenly, by the text alone. */
function spread(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return 0.75 + ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 33
}

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
