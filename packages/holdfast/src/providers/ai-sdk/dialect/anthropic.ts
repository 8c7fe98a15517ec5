import type { ThinkingLevel } from '@holdfast/protocol'
import {
  type Dialect,
  efforts,
  hasMetaText,
  megabytes,
  plainDialect as plain,
  type Thinking,
  type ThinkingRequest,
} from './dialect.ts'

/** Refuses thinking without a valid signature and answers that end in thinking. Caches only what is marked. */
export const anthropicDialect: Dialect = {
  ...plain,
  thinking: {
    isAccepted: (part) => hasMetaText(part, 'anthropic', 'signature', 'redactedData'),
    mayEndAnswer: false,
    mustBeginRound: true,
    isThinker: () => true,
    request: requestThinking,
  },
  answers: { ...plain.answers, acceptsBlankText: () => false },
  files: { ...plain.files, imageBytesMax: megabytes(5), inResults: true },
  cache: { ...plain.cache, mark: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  needsOutputLimit: true,
  // Pings during silent thinking show that the connection is alive.
  options: { anthropic: { includePings: true } },
}

const budgetTokensMin = 1_024
const shares = { low: 0.1, medium: 0.3, high: 0.6 } as const satisfies Partial<Record<ThinkingLevel, number>>
/** Every thinking model of Anthropic has at least this limit. */
const outputTokensMin = 32_000

/** Thinking counts as output, so the budget must leave room for the answer. */
function requestThinking(level: ThinkingLevel, { modelId, outputTokens, hasReasoning }: ThinkingRequest): Thinking {
  if (hasReasoning && (level === 'off' || outputTokens === null || !needsBudget(modelId)))
    return { reasoning: efforts[level] }
  const max = outputTokens ?? outputTokensMin
  if (level === 'off' || max < 2 * budgetTokensMin)
    return { options: { anthropic: { thinking: { type: 'disabled' } } } }
  const budgetTokens = Math.max(budgetTokensMin, Math.round(max * shares[level]))
  return {
    options: { anthropic: { thinking: { type: 'enabled', budgetTokens } } },
    // The library adds the budget to this.
    ...(outputTokens !== null && { outputTokensMax: outputTokens - budgetTokens }),
  }
}

/** Newer models take an effort; older ones, and those of other services, a budget. */
const needsBudget = (modelId: string): boolean =>
  !modelId.includes('claude-') || /claude-(3|(sonnet|opus|haiku)-4(-[0-5])?(-\d{8}|@|$))/.test(modelId)
