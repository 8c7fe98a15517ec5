import type { Usage } from '@holdfast/protocol'

export function tokensText(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 10_000) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 1_000_000) return `${Math.round(tokens / 1000)}k`
  return `${(tokens / 1_000_000).toFixed(1)}M`
}

/** An unknown price is said to be unknown: a zero would be a lie that somebody pays for. */
export function costText(cost: number | null): string {
  if (cost === null) return 'cost unknown'
  if (cost > 0 && cost < 0.01) return `$${cost.toFixed(4)}`
  return `$${cost.toFixed(2)}`
}

/** One quiet line: what went in, what came out, what it cost. */
export function usageText({ input, output, cacheRead, cacheWrite, cost }: Usage): string {
  const cached = cacheRead > 0 ? ` (+${tokensText(cacheRead)} cached)` : ''
  return `${tokensText(input + cacheWrite)} in${cached} · ${tokensText(output)} out · ${costText(cost)}`
}
