import type { LanguageModelV4Usage } from '@ai-sdk/provider'
import type { AssistantPart, ModelRequest, ToolResultPart, UserPart } from '@holdfast/core/ports'
import { fileTokens, type Price, textTokens, type Usage } from '@holdfast/protocol'

/** No call uses more; a higher count is an error of the service. */
const tokensMax = 1_000_000_000

/**
 * Converts the usage of a call. `input` excludes tokens read from or written to the cache. Null if the service did not
 * count, or counted nothing.
 */
export function readUsage({ inputTokens, outputTokens, raw }: LanguageModelV4Usage, price: Price | null): Usage | null {
  const total = tokens(inputTokens.total ?? sum(inputTokens.noCache, inputTokens.cacheRead, inputTokens.cacheWrite))
  const cacheRead = Math.min(total, tokens(inputTokens.cacheRead) || readRawCount(raw, 'prompt_cache_hit_tokens'))
  const written = tokens(inputTokens.cacheWrite) || readRawCount(raw, 'prompt_tokens_details', 'cache_write_tokens')
  const cacheWrite = Math.min(total - cacheRead, written)
  const input = tokens(total - cacheRead - cacheWrite)
  const output = tokens(outputTokens.total)
  const counts = { input, output, cacheRead, cacheWrite }
  if (total + output === 0 || isAbsurd(inputTokens.total) || total > tokensMax || isAbsurd(outputTokens.total))
    return null
  return { ...counts, cost: calculateCost(counts, price) }
}

/** Returns null without a usable price. */
function calculateCost(counts: Omit<Usage, 'cost'>, price: Price | null): number | null {
  if (price === null) return null
  const millionths =
    counts.input * price.input +
    counts.output * price.output +
    counts.cacheRead * price.cacheRead +
    counts.cacheWrite * price.cacheWrite
  return Number.isFinite(millionths) && millionths >= 0 ? millionths / 1_000_000 : null
}

const isAbsurd = (count: number | undefined): boolean => count !== undefined && !(count <= tokensMax) // true for NaN too

const sum = (...counts: readonly (number | undefined)[]): number =>
  counts.reduce((all: number, count) => all + tokens(count), 0)

/** Reads counts that the library ignores: DeepSeek's cache hits and OpenRouter's cache writes. */
function readRawCount(raw: unknown, ...path: readonly string[]): number {
  const step = (at: unknown, name: string) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : null)
  const found: unknown = path.reduce(step, raw)
  return typeof found === 'number' ? tokens(found) : 0
}

/** Treats a missing or invalid count as 0. */
const tokens = (count: number | undefined): number =>
  count !== undefined && Number.isFinite(count) ? Math.max(0, Math.round(count)) : 0

/** Estimates the usage of a call that the service did not count. */
export function estimateUsage(request: ModelRequest, saidChars: number, price: Price | null): Usage {
  const { system, tools, messages } = request
  let input = textTokens(system) + (tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)))
  for (const { content } of messages) for (const part of content) input += estimateTokens(part)
  const counts = { input, output: Math.ceil(saidChars / 4), cacheRead: 0, cacheWrite: 0 }
  return { ...counts, cost: calculateCost(counts, price) }
}

function estimateTokens(part: UserPart | AssistantPart | ToolResultPart): number {
  if ('text' in part) {
    const files = 'files' in part ? (part.files ?? []) : []
    return files.reduce(
      (sum, { mediaType, bytes }) => sum + fileTokens({ mediaType, bytes: bytes.byteLength }),
      textTokens(part.text),
    )
  }
  if (part.type === 'file') return fileTokens({ mediaType: part.mediaType, bytes: part.bytes.byteLength })
  return textTokens(part.tool) + textTokens(JSON.stringify(part.args))
}
