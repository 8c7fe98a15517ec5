import type { z } from 'zod'
import { limits } from './limits.ts'

/** Any JSON value. */
export type Json = z.infer<ReturnType<typeof z.json>>

/**
 * Returns why a value cannot be sent as JSON; null if it can. A deeper one would exhaust the stack of what parses it, and
 * one whose parts are shared has more values than memory: 26 levels of pairs have 67 million.
 */
export function findJsonExcess(value: unknown): string | null {
  let left: number = limits.jsonValuesMax
  const visit = (part: unknown, levels: number): string | null => {
    if (--left < 0) return `it has more than ${limits.jsonValuesMax} values`
    if (typeof part !== 'object' || part === null || part instanceof Uint8Array) return null
    if (levels === 0) return `it is nested deeper than ${limits.jsonDepthMax} levels`
    for (const field of Object.values(part)) {
      const excess = visit(field, levels - 1)
      if (excess !== null) return excess
    }
    return null
  }
  return visit(value, limits.jsonDepthMax)
}
