import type { ThinkingLevel } from '@holdfast/protocol'
import { type Asked, type Dialect, efforts, hasText, megabytes, plain, type Thinking } from './dialect.ts'

/** Anthropic refuses thinking it cannot verify, and an answer that ends in thinking; it keeps only what is marked. */
export const anthropic: Dialect = {
  ...plain,
  thinking: {
    isTaken: (part) => hasText(part, 'anthropic', 'signature', 'redactedData'),
    mayEndAnswer: false,
    isFromTheStart: true,
    isThinker: () => true,
    ask,
  },
  answers: { ...plain.answers, takesBlankText: () => false },
  files: { ...plain.files, imageBytesMax: megabytes(5) },
  cache: { ...plain.cache, mark: { anthropic: { cacheControl: { type: 'ephemeral' } } } },
  wantsOutputLimit: true,
  // A model that thinks in silence still pings: that is how silence and a dead line are told apart.
  options: { anthropic: { includePings: true } },
}

const budgetTokensMin = 1_024
const shares = { low: 0.1, medium: 0.3, high: 0.6 } as const satisfies Partial<Record<ThinkingLevel, number>>
/** Every model of its own that thinks says as much. */
const outputTokensLeast = 32_000

/** What is thought counts as said: the budget must leave room for an answer, and both together fit the model. */
function ask(level: ThinkingLevel, { modelId, outputTokens, hasWord }: Asked): Thinking {
  if (hasWord && (level === 'off' || outputTokens === null || !isByBudget(modelId)))
    return { reasoning: efforts[level] }
  const most = outputTokens ?? outputTokensLeast
  if (level === 'off' || most < 2 * budgetTokensMin)
    return { options: { anthropic: { thinking: { type: 'disabled' } } } }
  const budgetTokens = Math.max(budgetTokensMin, Math.round(most * shares[level]))
  return {
    options: { anthropic: { thinking: { type: 'enabled', budgetTokens } } },
    // The library adds the budget to it.
    ...(outputTokens !== null && { outputTokensMax: outputTokens - budgetTokens }),
  }
}

/** Newer models think as they see fit and are told an effort; older ones, and those of others, get a budget. */
const isByBudget = (modelId: string): boolean =>
  !modelId.includes('claude-') || /claude-(3|(sonnet|opus|haiku)-4(-[0-5])?(-\d{8}|@|$))/.test(modelId)
