import type { ModelFault } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { ModelEnd } from '../../ports/provider.ts'
import { abortableDelay } from '../abortable-delay.ts'
import { retryWaitMs } from './retry-wait.ts'

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
