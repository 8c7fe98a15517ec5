import type { FailureDetails, Headers } from './details.ts'

/** Longer waits are reported as this. */
const waitMsMax = 7 * 24 * 3_600_000

/**
 * Reads how long to wait: from `retry-after-ms`, `Retry-After` in seconds or as a date, Google's own field, or the reset
 * time of an exhausted limit. Null if the service does not say.
 */
export function readRetryAfter(
  { headers, retryDelay }: Pick<FailureDetails, 'headers' | 'retryDelay'>,
  now: number,
): number | null {
  const askedMs =
    parseAmount(headers['retry-after-ms']) ??
    parseWait(headers['retry-after'], now) ??
    parseDuration(retryDelay) ??
    findReset(headers, now)
  return askedMs === null ? null : Math.min(Math.round(askedMs), waitMsMax)
}

function parseWait(value: string | undefined, now: number): number | null {
  const seconds = parseAmount(value)
  return seconds === null ? parseDate(value, now) : seconds * 1000
}

const parseAmount = (text: string | undefined): number | null =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null

/** Requires a year and a time: `Date.parse` accepts almost anything. */
function parseDate(text: string | undefined, now: number): number | null {
  if (text === undefined || !/\d{4}/.test(text) || !/\d\d:\d\d/.test(text)) return null
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Parses `34s`, `6m0s`, `2m59.56s`, `120ms`. */
function parseDuration(text: string | undefined): number | null {
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text?.trim() ?? '')
  if (match === null || match[0] === '') return null
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000 + ms)
}

/** The headers of a limit: what remains, and when it resets. */
const limitNames: readonly (readonly [remaining: string, reset: string])[] = [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
    (limit) => [`anthropic-ratelimit-${limit}-remaining`, `anthropic-ratelimit-${limit}-reset`] as const,
  ),
  ...['requests', 'tokens'].map((limit) => [`x-ratelimit-remaining-${limit}`, `x-ratelimit-reset-${limit}`] as const),
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
]

/** Returns the longest wait of the exhausted limits. */
function findReset(headers: Headers, now: number): number | null {
  const waits = limitNames.flatMap(([remaining, reset]) => {
    if (parseAmount(headers[remaining]) !== 0) return []
    const value = headers[reset]
    return parseTimestamp(value, now) ?? parseDuration(value) ?? parseDate(value, now) ?? []
  })
  return waits.length === 0 ? null : Math.max(...waits)
}

/** Parses seconds or milliseconds since 1970; smaller numbers are seconds from now. */
function parseTimestamp(text: string | undefined, now: number): number | null {
  const value = parseAmount(text)
  if (value === null) return null
  if (value > 1e11) return Math.max(0, value - now)
  return value > 1e9 ? Math.max(0, value * 1000 - now) : value * 1000
}
