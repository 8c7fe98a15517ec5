import { z } from 'zod'

const tokens = z.int().min(0)

/** Usage of model calls. An unknown cost is null, never 0. */
export const Usage = z.object({
  input: tokens,
  output: tokens,
  cacheRead: tokens,
  cacheWrite: tokens,
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
