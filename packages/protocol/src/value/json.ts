import type { z } from 'zod'
import { limits } from './limits.ts'

/** Any JSON value. */
export type Json = z.infer<ReturnType<typeof z.json>>

/** Returns whether a value is nested deeper than JSON may be. A deeper one would exhaust the stack of what parses it. */
export function isNestedTooDeep(value: unknown, levels: number = limits.jsonDepthMax): boolean {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false
  if (levels === 0) return true
  return Object.values(value).some((field) => isNestedTooDeep(field, levels - 1))
}
