import { type Fault, fault, limits } from '@holdfast/protocol'
import type { RateLimit } from '../../system/config/config.ts'

export const usualRate: RateLimit = { perSecond: limits.requestsPerSecondMax, atOnce: limits.requestsAtOnceMax }

const bucketsMax = 4096

/** Counts the requests of each caller in a token bucket. A running stream is one request, however long it lasts. */
export function createRequestLimit({ perSecond, atOnce }: RateLimit, now: () => number) {
  const buckets = new Map<string, { left: number; atMs: number }>()

  /** Forgets callers whose bucket is full again. If none is, the oldest go: they start with a full one. */
  function makeRoom(nowMs: number): void {
    for (const [caller, { left, atMs }] of buckets)
      if (left + ((nowMs - atMs) / 1000) * perSecond >= atOnce) buckets.delete(caller)
    for (const caller of buckets.keys()) {
      if (buckets.size < bucketsMax) return
      buckets.delete(caller)
    }
  }

  return {
    /** Counts a request and returns null, or the fault that refuses it. */
    take(caller: string): Fault | null {
      const nowMs = now()
      const known = buckets.get(caller)
      if (!known && buckets.size >= bucketsMax) makeRoom(nowMs)
      // A clock that was set back adds nothing.
      const added = known ? (Math.max(0, nowMs - known.atMs) / 1000) * perSecond : 0
      const left = known ? Math.min(atOnce, known.left + added) : atOnce
      const isAllowed = left >= 1
      buckets.set(caller, { left: isAllowed ? left - 1 : left, atMs: nowMs })
      if (isAllowed) return null
      const retryAfterSeconds = Math.max(1, Math.ceil((1 - left) / perSecond))
      const message = `This token sent too many requests: ${atOnce} at once and ${perSecond} a second are allowed. Try again in ${retryAfterSeconds} s.`
      return fault('too_many_requests', message, { retryAfterSeconds, perSecond, atOnce })
    },
  }
}

export type RequestLimit = ReturnType<typeof createRequestLimit>
