import { type FrameOf, limits, orThrow, type SessionHandle, type Usage } from '@holdfast/protocol'

export type UsageOptions = {
  /** Includes all descendants. */
  readonly tree?: boolean | undefined
}

/** Usage of the model's context. */
export type ContextUsage = {
  /** Size of the context the model would get now. */
  readonly tokens: number
  /** Limit of the model; null when unknown. */
  readonly contextTokens: number | null
  /** `tokens` divided by the limit, or by the assumed limit. */
  readonly share: number
  /** Whether `tokens` is at least partly estimated. */
  readonly isEstimate: boolean
}

/** Methods for usage. An unknown price makes the cost null, never 0. */
export interface SessionUsage {
  /** Returns the usage of the session, with `tree` including all descendants. */
  usage(options?: UsageOptions): Promise<Usage>
  /** Returns the usage of the current or last turn; null when unknown. */
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

/** Computes the context usage from a snapshot. */
export function contextUsageOf({ view, here }: Pick<FrameOf<'snapshot'>, 'view' | 'here'>): ContextUsage {
  const { tokens, isEstimate } = view
  const contextTokens = here?.contextTokens ?? null
  return { tokens, contextTokens, share: tokens / (contextTokens ?? limits.contextTokens), isEstimate }
}
