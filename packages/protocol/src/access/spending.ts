import { z } from 'zod'
import { Instant } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import type { Result } from '../value/result.ts'
import { Day, Spent } from '../value/usage.ts'

const scope = {
  /** Only for this token, by id or name; `local` is the person at this machine and the program. */
  token: z.string().min(1).max(limits.tokenNameCharsMax).optional(),
  /** Only for sessions of this workspace. */
  workspace: z.string().min(1).max(limits.toolPathCharsMax).optional(),
}
const oneScope = ({ token, workspace }: CapScope): boolean => token === undefined || workspace === undefined
const scopeRule = 'a cap is for a token or for a workspace, not for both'

/** What a cap is for: one token, one workspace, or everything. */
export type CapScope = z.infer<z.ZodObject<typeof scope>>
export const CapScope = z.strictObject(scope).refine(oneScope, scopeRule)

/** A limit for what model calls may cost in a day. It has one amount or both; the first that is reached counts. */
export const Cap = z
  .strictObject({
    ...scope,
    /** Dollars a day. 0 stops all work. */
    maxCost: z.number().min(0).optional().describe('Dollars a day. 0 stops all work.'),
    /** Tokens of models a day, in and out. */
    maxTokens: z.int().min(0).optional().describe('Tokens of models a day, in and out.'),
  })
  .refine(oneScope, scopeRule)
  .refine(({ maxCost, maxTokens }) => maxCost !== undefined || maxTokens !== undefined, 'give maxCost or maxTokens')
export type Cap = z.infer<typeof Cap>

/** A sum of many costs can be too low by this part of it: 11 calls of 0.2 dollars are 2.1999999999999997. */
const roundingMax = 1e-9

/** Returns the amount of a cap that is used up; null if none is. An unknown cost is never more than a cap. */
export function reachedAmount(cap: Cap, { cost, tokens }: Spent): 'cost' | 'tokens' | null {
  const { maxCost, maxTokens } = cap
  const sum = cost ?? 0
  if (maxCost !== undefined && sum + sum * roundingMax >= maxCost) return 'cost'
  return maxTokens !== undefined && tokens >= maxTokens ? 'tokens' : null
}

/** A cap with what was spent of it today. */
export const ListedCap = z.object({
  /** The id of its token, or `local`; null if it is not for a token. */
  token: z.string().nullable(),
  /** The name of its token; null if it has none, or was revoked. */
  name: z.string().nullable(),
  /** Its workspace; null if it is not for one. */
  workspace: z.string().nullable(),
  /** Dollars a day; null for no limit. */
  maxCost: z.number().nullable(),
  /** Tokens of models a day; null for no limit. */
  maxTokens: z.int().nullable(),
  /** Who set it: the configuration or options of the program, which only they change, or a person, for all programs. */
  setBy: z.enum(['program', 'person']),
  /** What was spent of it today. */
  spent: Spent,
  /** Whether it stops work now. */
  isReached: z.boolean(),
})
export type ListedCap = z.infer<typeof ListedCap>

/** What was spent on a day, and the caps. */
export const Spending = z.object({
  /** The day in UTC. */
  day: Day,
  /** When the caps of today count from 0 again. */
  opensAt: Instant,
  /** What was spent on the day in all. */
  total: Spent,
  /** The same for each payer, the largest first; at most 200. */
  tokens: z.array(Spent.extend({ token: z.string(), name: z.string().nullable() })),
  /** The same for each workspace, the largest first; at most 200. */
  workspaces: z.array(Spent.extend({ workspace: z.string() })),
  /** All caps, with what was spent of them today. */
  caps: z.array(ListedCap),
})
export type Spending = z.infer<typeof Spending>

/** Which day to show. */
export const SpendingOptions = z.strictObject({
  /** The day in UTC; today when absent. */
  day: Day.optional(),
})
export type SpendingOptions = z.input<typeof SpendingOptions>

/** What was spent by day, and the caps that limit it. */
export interface SpendingCaps {
  /** Tells what was spent on a day, by token and workspace, and lists the caps. Refused: bad_request. */
  read(options?: SpendingOptions): Promise<Result<Spending>>
  /** Sets the cap for everything, a token or a workspace; it replaces the former one. Refused: bad_request, not_found, too_large. */
  set(cap: Cap): Promise<Result<ListedCap>>
  /** Removes the cap for everything, a token or a workspace, and returns it. Refused: bad_request, not_found. */
  remove(scope?: CapScope): Promise<Result<ListedCap>>
}
