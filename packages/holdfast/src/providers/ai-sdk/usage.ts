import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Usage } from '@holdfast/protocol'

/** What a model costs, in dollars for a million tokens. */
export type Price = {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheWrite: number
}

/** Usage in our words: `input` counts what was read afresh, neither from the cache nor into it. No price, no cost. */
export function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage, price: Price | null): Usage {
  const cacheRead = tokens(inputTokens.cacheRead)
  const cacheWrite = tokens(inputTokens.cacheWrite)
  const input = tokens(inputTokens.noCache ?? tokens(inputTokens.total) - cacheRead - cacheWrite)
  const output = tokens(outputTokens.total)
  const counts = { input, output, cacheRead, cacheWrite }
  return { ...counts, cost: price === null ? null : costOf(counts, price) }
}

const costOf = (counts: Price, price: Price): number =>
  (counts.input * price.input +
    counts.output * price.output +
    counts.cacheRead * price.cacheRead +
    counts.cacheWrite * price.cacheWrite) /
  1_000_000

/** A count a service left out, or got wrong, is none. */
const tokens = (count: number | undefined): number =>
  count !== undefined && Number.isFinite(count) ? Math.max(0, Math.round(count)) : 0
