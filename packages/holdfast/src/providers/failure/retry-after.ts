import type { FailureDetails, Headers } from './details.ts'

/** Nobody waits longer for an answer: what is asked beyond it, by however many digits, is told as this. */
const waitMsMax = 7 * 24 * 3_600_000

/**
 * How long the service asks us to wait: `retry-after-ms`, `Retry-After` in seconds or as a date, Google's own field, or
 * when the limit that was used up starts anew. Null if it does not say.
 */
export function retryAfterMs(
  { headers, retryDelay }: Pick<FailureDetails, 'headers' | 'retryDelay'>,
  now: number,
): number | null {
  const askedMs =
    amount(headers['retry-after-ms']) ??
    waitIn(headers['retry-after'], now) ??
    durationMs(retryDelay) ??
    resetMs(headers, now)
  return askedMs === null ? null : Math.min(Math.round(askedMs), waitMsMax)
}

function waitIn(value: string | undefined, now: number): number | null {
  const seconds = amount(value)
  return seconds === null ? untilDate(value, now) : seconds * 1000
}

const amount = (text: string | undefined): number | null =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : null

/** Only what looks like a date is one: `Date.parse` takes almost anything. */
function untilDate(text: string | undefined, now: number): number | null {
  if (text === undefined || !/\d{4}/.test(text) || !/\d\d:\d\d/.test(text)) return null
  const date = Date.parse(text)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** `34s`, `6m0s`, `2m59.56s`, `120ms`. */
function durationMs(text: string | undefined): number | null {
  const match = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/.exec(text?.trim() ?? '')
  if (match === null || match[0] === '') return null
  const [hours = 0, minutes = 0, seconds = 0, ms = 0] = match.slice(1).map((part) => Number(part ?? 0))
  return Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000 + ms)
}

/** The headers of a limit: what remains of it, and when it starts anew. */
const limitNames: readonly (readonly [remaining: string, reset: string])[] = [
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
    (limit) => [`anthropic-ratelimit-${limit}-remaining`, `anthropic-ratelimit-${limit}-reset`] as const,
  ),
  ...['requests', 'tokens'].map((limit) => [`x-ratelimit-remaining-${limit}`, `x-ratelimit-reset-${limit}`] as const),
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
]

/** Only limits with nothing left count: of the others nobody knows whether they are in the way. */
function resetMs(headers: Headers, now: number): number | null {
  const waits = limitNames.flatMap(([remaining, reset]) => {
    if (amount(headers[remaining]) !== 0) return []
    const value = headers[reset]
    return untilStamp(value, now) ?? durationMs(value) ?? untilDate(value, now) ?? []
  })
  return waits.length === 0 ? null : Math.max(...waits)
}

/** A moment as a number, in seconds or milliseconds since 1970; smaller numbers are seconds from now. */
function untilStamp(text: string | undefined, now: number): number | null {
  const value = amount(text)
  if (value === null) return null
  if (value > 1e11) return Math.max(0, value - now)
  return value > 1e9 ? Math.max(0, value * 1000 - now) : value * 1000
}
