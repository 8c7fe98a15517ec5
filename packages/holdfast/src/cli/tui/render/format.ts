import { type CallView, clip } from '@holdfast/protocol'
import { shownLine } from '../term/lines.ts'

/** Returns a rounded duration. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.floor(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}

/** Returns a count of tokens, rounded. */
export function tokensText(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 10_000) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 1_000_000) return `${Math.round(tokens / 1000)}k`
  return `${(tokens / 1_000_000).toFixed(1)}M`
}

/** Returns the cost. An unknown cost is never shown as zero. */
export function costText(cost: number | null): string {
  if (cost === null) return '$?'
  return cost > 0 && cost < 0.01 ? `$${cost.toFixed(4)}` : `$${cost.toFixed(2)}`
}

const telling = ['command', 'path', 'file', 'pattern', 'query', 'url', 'task', 'name']
const summaryCharsMax = 400

/** Summarizes a call in one line: its most telling argument, else the first text. */
export function callSummary({ args }: Pick<CallView, 'args'>): string {
  const named = telling.map((name) => args[name])
  const found = [...named, ...Object.values(args)].find((value) => typeof value === 'string' && value !== '')
  return typeof found === 'string' ? shownLine(clip(found, summaryCharsMax)) : ''
}

/** Returns text as one line: line breaks become spaces. */
export const oneLineText = (text: string): string => shownLine(text.replaceAll(/\s+/g, ' ').trim())
