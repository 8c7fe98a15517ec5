import { limits } from '@holdfast/protocol'
import type { ModelEnd } from '../../ports/provider.ts'

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
