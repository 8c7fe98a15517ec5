import { z } from 'zod'

const tokens = z.int().min(0)

/** Usage of model calls. An unknown cost is null, never 0. */
export const Usage = z.object({
  /** Tokens sent, without those read from or written to the cache. */
  input: tokens,
  /** Tokens of the answers. */
  output: tokens,
  /** Tokens read from the provider's cache. */
  cacheRead: tokens,
  /** Tokens written to the provider's cache. */
  cacheWrite: tokens,
  /** Dollars; null when a price is unknown. */
  cost: z.number().min(0).nullable(),
})
export type Usage = z.infer<typeof Usage>

/** Usage of a session and all its descendants. */
export const TreeUsage = z.object({ usage: Usage, sessions: z.int().min(1) })
export type TreeUsage = z.infer<typeof TreeUsage>

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0 }

/** Adds two usages; an unknown cost makes the sum unknown. */
export const addUsage = (left: Usage, right: Usage): Usage => ({
  input: left.input + right.input,
  output: left.output + right.output,
  cacheRead: left.cacheRead + right.cacheRead,
  cacheWrite: left.cacheWrite + right.cacheWrite,
  cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
})
