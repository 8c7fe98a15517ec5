import type { Usage } from '@holdfast/protocol'

export function tokensText(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 10_000) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 1_000_000) return `${Math.round(tokens / 1000)}k`
  return `${(tokens / 1_000_000).toFixed(1)}M`
}

/** Returns the cost. An unknown cost is never shown as zero. */
export function costText(cost: number | null): string {
  if (cost === null) return 'cost unknown'
  if (cost > 0 && cost < 0.01) return `$${cost.toFixed(4)}`
  return `$${cost.toFixed(2)}`
}

/** Returns input, output and cost in one line. */
export function usageText({ input, output, cacheRead, cacheWrite, cost }: Usage): string {
  const cached = cacheRead > 0 ? ` (+${tokensText(cacheRead)} cached)` : ''
  return `${tokensText(input + cacheWrite)} in${cached} · ${tokensText(output)} out · ${costText(cost)}`
}
