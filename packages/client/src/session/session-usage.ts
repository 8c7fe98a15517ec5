import { type FrameOf, limits, orThrow, type SessionHandle, type Usage } from '@holdfast/protocol'

export type UsageOptions = {
  /** With all sessions that were started for it, and for those. */
  readonly tree?: boolean | undefined
}

/** How full the model's context is. */
export type ContextUsage = {
  /** How many tokens the model would be told now. */
  readonly tokens: number
  /** How many it takes; null where nobody knows. */
  readonly contextTokens: number | null
  /** The one by the other, or by what a model is taken to hold. */
  readonly share: number
  /** Whether `tokens` is our guess, be it in part: since the provider last counted, something was added. */
  readonly isEstimate: boolean
}

/** What model calls used. A price nobody knows makes the cost null, never 0. */
export interface SessionUsage {
  /** Of the whole session, or with `tree` of all that were started for it too. */
  usage(options?: UsageOptions): Promise<Usage>
  /** Of the turn that runs, or of the last one; null where nobody counted. */
  turnUsage(): Promise<Usage | null>
  contextUsage(): Promise<ContextUsage>
}

export function createSessionUsage(handle: SessionHandle): SessionUsage {
  const snapshot = async () => orThrow(await handle.snapshot())
  return {
    usage: async ({ tree = false } = {}) =>
      tree ? orThrow(await handle.treeUsage()).usage : (await snapshot()).meta.usage,
    turnUsage: async () => (await snapshot()).view.turnUsage,
    contextUsage: async () => contextUsageOf(await snapshot()),
  }
}

/** The same of what a screen has at hand. */
export function contextUsageOf({ view, here }: Pick<FrameOf<'snapshot'>, 'view' | 'here'>): ContextUsage {
  const { tokens, isEstimate } = view
  const contextTokens = here?.contextTokens ?? null
  return { tokens, contextTokens, share: tokens / (contextTokens ?? limits.contextTokens), isEstimate }
}
