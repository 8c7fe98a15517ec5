import type { ContextUsage } from '@holdfast/client'
import { escapeHidden, escapeLine, limits, type SessionView, type Status, type Usage } from '@holdfast/protocol'

/** Returns `1 branch`, `2 branches`. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Returns a rounded duration. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  const seconds = ms / 1000
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  if (seconds < 60) return `${Math.floor(seconds)} s`
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const thisYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const otherYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })

/** Returns how long ago, in short form. A time in the future is `now`. */
export function relativeTime(at: string, nowMs: number): string {
  const then = new Date(at)
  const agoMs = nowMs - then.getTime()
  if (Number.isNaN(agoMs)) return ''
  if (agoMs < minuteMs) return 'now'
  if (agoMs < hourMs) return `${Math.floor(agoMs / minuteMs)}m`
  if (agoMs < dayMs) return `${Math.floor(agoMs / hourMs)}h`
  if (agoMs < 7 * dayMs) return `${Math.floor(agoMs / dayMs)}d`
  return (then.getFullYear() === new Date(nowMs).getFullYear() ? thisYear : otherYear).format(then)
}

/** Returns `5m ago` for a short form of a time; dates and `now` stay. */
export const agoText = (time: string): string => (/^\d+[mhd]$/.test(time) ? `${time} ago` : time)

export function tokensText(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  if (tokens < 10_000) return `${(tokens / 1000).toFixed(1)}k`
  if (tokens < 1_000_000) return `${Math.round(tokens / 1000)}k`
  return `${(tokens / 1_000_000).toFixed(1)}M`
}

/** Returns a size in bytes, rounded. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`
  if (bytes < 1_000_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`
  return `${(bytes / 1_000_000_000).toFixed(1)} GB`
}

/** Returns all tokens of a usage. */
export const tokensOf = ({ input, output, cacheRead, cacheWrite }: Usage): number =>
  input + output + cacheRead + cacheWrite

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

/** Returns the context usage in short form. */
export const contextShort = ({ tokens, contextTokens }: ContextUsage): string =>
  `${tokensText(tokens)} / ${contextTokens === null ? `${tokensText(limits.contextTokens)}?` : tokensText(contextTokens)}`

/** Returns it for screen readers. */
export const contextSpoken = ({ tokens, contextTokens, isEstimate }: ContextUsage): string =>
  `${isEstimate ? 'about ' : ''}${tokensText(tokens)} of ${tokensText(contextTokens ?? limits.contextTokens)} tokens`

/** Returns the tooltip. */
export function contextHint(context: ContextUsage): string {
  const usage = `The context holds ${contextSpoken(context)}. Above ${limits.compactAt * 100} % old messages are summarized.`
  return context.contextTokens !== null
    ? usage
    : `${usage} The limit of this model is not known; this is an assumption.`
}

const words: Record<Status, string> = {
  idle: 'Ready',
  plan: 'Ready, planning only',
  thinking: 'Working', // the transcript says when it thinks
  tool_executing: 'Using tools',
  error: 'Failed',
  interrupted: 'Interrupted',
}

export const statusText = (status: Status): string => words[status]

/** Returns the status as far as it is known: whether a turn still runs on a server that is away is not. */
export const knownStatus = (status: Status, isLost: boolean): { readonly dot: Status; readonly text: string } =>
  isLost && isBusy(status)
    ? { dot: 'idle', text: 'Was working when the connection was lost' }
    : { dot: status, text: words[status] }

/** Whether a turn is running. */
export const isBusy = (status: Status): boolean => status === 'thinking' || status === 'tool_executing'

/** Returns the model, and its fallback while one is used. */
export const modelText = ({ model, fallback }: Pick<SessionView, 'model' | 'fallback'>): string =>
  fallback === null ? escapeLine(model) : `${escapeLine(fallback)} instead of ${escapeLine(model)}`

/** Returns the last part of a path. */
export const baseName = (path: string): string => path.split(/[\\/]/u).findLast((name) => name !== '') ?? path

/** Returns text as one line: line breaks become spaces, hidden characters are escaped. */
export const oneLine = (text: string): string => escapeLine(text.replaceAll(/\s+/g, ' ').trim())

// Colours only; other control sequences are escaped.
const colour = /\u001b\[[0-9;]*m/g

/** Prepares program output for display: removes colours, normalizes line ends, escapes hidden characters. */
export const outputText = (text: string): string => escapeHidden(text.replace(colour, '').replaceAll('\r\n', '\n'))

/** Returns the beginning of a long text; null for one that is not much longer. */
export function beginningOf(text: string, linesMax: number, charsMax: number): string | null {
  const lines = text.split('\n')
  if (lines.length <= linesMax * 1.2 && text.length <= charsMax * 1.2) return null
  return lines.slice(0, linesMax).join('\n').slice(0, charsMax)
}
