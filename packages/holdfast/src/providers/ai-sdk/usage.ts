import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { Price, Usage } from '@holdfast/protocol'

/** No call uses more: a service that says so has miscounted. */
const tokensMax = 1_000_000_000

/**
 * Usage in our words: `input` counts what was read afresh, neither from the cache nor into it. No price, no cost. Null where
 * the service did not count, or not in earnest: no call uses nothing.
 */
export function usageOf({ inputTokens, outputTokens, raw }: LanguageModelV4Usage, price: Price | null): Usage | null {
  const total = tokens(inputTokens.total ?? sum(inputTokens.noCache, inputTokens.cacheRead, inputTokens.cacheWrite))
  const cacheRead = Math.min(total, tokens(inputTokens.cacheRead) || rawCount(raw, 'prompt_cache_hit_tokens'))
  const written = tokens(inputTokens.cacheWrite) || rawCount(raw, 'prompt_tokens_details', 'cache_write_tokens')
  const cacheWrite = Math.min(total - cacheRead, written)
  const input = tokens(total - cacheRead - cacheWrite)
  const output = tokens(outputTokens.total)
  const counts = { input, output, cacheRead, cacheWrite }
  if (total + output === 0 || isAbsurd(inputTokens.total) || total > tokensMax || isAbsurd(outputTokens.total))
    return null
  return { ...counts, cost: costOf(counts, price) }
}

/** Null where there is no price, or none that a sum can be made of. */
export function costOf(counts: Omit<Usage, 'cost'>, price: Price | null): number | null {
  if (price === null) return null
  const millionths =
    counts.input * price.input +
    counts.output * price.output +
    counts.cacheRead * price.cacheRead +
    counts.cacheWrite * price.cacheWrite
  return Number.isFinite(millionths) && millionths >= 0 ? millionths / 1_000_000 : null
}

const isAbsurd = (count: number | undefined): boolean => count !== undefined && !(count <= tokensMax) // NaN as well

const sum = (...counts: readonly (number | undefined)[]): number =>
  counts.reduce((all: number, count) => all + tokens(count), 0)

/** What a library does not read of a count: DeepSeek has its own name for cache hits, OpenRouter tells of writes. */
function rawCount(raw: unknown, ...path: readonly string[]): number {
  const found = path.reduce<unknown>(
    (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : null),
    raw,
  )
  return typeof found === 'number' ? tokens(found) : 0
}

/** A count a service left out, or got wrong, is none. */
const tokens = (count: number | undefined): number =>
  count !== undefined && Number.isFinite(count) ? Math.max(0, Math.round(count)) : 0
