import { limits, type ModelFault } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'
import type { ModelEnd } from '../../ports/provider.ts'
import { abortableDelay } from '../abortable-delay.ts'

/** How a model call ended, and whether that was before any part of an answer. */
export type ModelCallEnd = { readonly end: ModelEnd; readonly isSilent: boolean }

/** A failed try, and when the next one begins. */
export type Retry = {
  /** How many tries were made so far. */
  readonly tries: number
  readonly fault: ModelFault
  readonly happened?: string | undefined
  readonly waitMs: number
}

export type RetryOptions = {
  readonly clock: Clock
  /** Ends a wait at once. */
  readonly signal: AbortSignal
  /** The same seed gives the same waits. */
  readonly seed: string
  /** Called before each wait; the wait begins when it resolves. */
  readonly announce?: ((retry: Retry) => Promise<unknown>) | undefined
}

/** Calls a model, and again after a retryable failure, as long as no part of an answer has arrived. */
export async function withRetries<Result extends ModelCallEnd>(
  { clock, signal, seed, announce }: RetryOptions,
  call: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const result = await call()
    const { end, isSilent } = result
    const waitMs = end.type === 'failed' && isSilent ? retryWaitMs(end, tries, seed) : null
    if (end.type !== 'failed' || waitMs === null || signal.aborted) return result
    await announce?.({ tries, fault: end.fault, happened: end.happened, waitMs })
    await abortableDelay(clock, waitMs, { signal, keepsAlive: true })
    if (signal.aborted) return result
  }
}

type Failed = Extract<ModelEnd, { readonly type: 'failed' }>

/**
 * Returns how long to wait before the next try; null for none. The wait doubles each time, plus or minus a quarter, so
 * that clients do not retry together. A longer time that the service names is obeyed.
 */
export function retryWaitMs({ retryable, retryAfterMs }: Failed, tries: number, seed: string): number | null {
  if (!retryable || tries > limits.retriesMax) return null
  const ownMs = Math.round(limits.retryWaitMs * 2 ** (tries - 1) * spread(`${seed}:${tries}`))
  const waitMs = Math.max(retryAfterMs ?? 0, ownMs)
  return waitMs > limits.retryWaitMsMax ? null : waitMs
}

/** Returns a factor from 0.75 to 1.25, evenly spread, derived from the text. */
function spread(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b)
  return 0.75 + ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 33
}
