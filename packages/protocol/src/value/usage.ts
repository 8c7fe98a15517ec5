import { z } from 'zod'
import type { Instant } from './id.ts'

const count = z.int().min(0)

/** Usage of model calls. An unknown cost is null, never 0. */
export const Usage = z.object({
  /** Tokens sent, without those read from or written to the cache. */
  input: count,
  /** Tokens of the answers. */
  output: count,
  /** Tokens read from the provider's cache. */
  cacheRead: count,
  /** Tokens written to the provider's cache. */
  cacheWrite: count,
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

/** The payer of the person at this machine and of an embedding program: their calls come without a stored token. */
export const localPayer = 'local'

/** Who pays for model calls: the id of a token, or `local`. */
export const Payer = z.string().min(1).max(100)
export type Payer = z.infer<typeof Payer>

/** Returns who pays for what a caller starts. Only a stored token has an id that lasts; everyone else is `local`. */
export const payerOf = (person: string | undefined): Payer => /^token:(tok_.+)$/.exec(person ?? '')?.[1] ?? localPayer

/** What model calls have cost. Calls without a known price are in no sum of dollars; they are counted as unpriced. */
export const Spent = z.object({
  /** How many model calls were made. */
  calls: count,
  /** How many of them have no known price. */
  unpriced: count,
  /** Tokens in and out of the models; estimated if a provider did not count. */
  tokens: count,
  /** Dollars; null when there were calls and none had a price. */
  cost: z.number().min(0).nullable(),
})
export type Spent = z.infer<typeof Spent>

/** A day in UTC, such as `2026-01-31`. */
export const Day = z.iso.date()
export type Day = z.infer<typeof Day>

export const dayOf = (instant: Instant): Day => instant.slice(0, 10)

/** Returns the instant at which the next day begins in UTC. */
export const dayAfter = (day: Day): Instant => new Date(Date.parse(day) + 86_400_000).toISOString()
