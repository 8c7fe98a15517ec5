import type { ModelEnd } from '@holdfast/core/ports'
import { clip, type ErrorKind } from '@holdfast/protocol'
import { findCause, findEarlyEndCause, findErrorKind, isRetryable, listCauses } from './cause.ts'
import { type FailureDetails, type Headers, readDetails } from './details.ts'
import { describeFailure, type FailedService, type FailureDescription, maskSecrets, quotedCharsMax } from './message.ts'

export type FailedEnd = Extract<ModelEnd, { readonly type: 'failed' }>

type FailureDeps = {
  readonly service: FailedService
  readonly now: number
  /** The headers of the answer whose stream failed. */
  readonly headers?: Headers | undefined
}

const detailCharsMax = 4_000

/** Ends a call that failed with an error: a message for people, and the raw text for the log. */
export function endFailed(error: unknown, { service, now, headers }: FailureDeps): FailedEnd {
  const details = readDetails(error, headers)
  const detail = clip(maskSecrets(describeRaw(error, details)), detailCharsMax)
  return endWithCause(
    { cause: findCause(error, details), service, details, waitMs: readRetryAfter(details, now) },
    detail,
  )
}

/** Ends a call whose stream stopped without a finish. The text so far stays, and the turn can be continued. */
export function endCutShort({ service, headers = {} }: FailureDeps): FailedEnd {
  const details = readDetails(null, headers)
  const type = headers['content-type'] ?? 'without a type'
  const detail = `the answer (${type}) ended without a finish\n${findRequestId(details)}`.trimEnd()
  return endWithCause({ cause: findEarlyEndCause(headers), service, details, waitMs: null }, detail)
}

/** Ends a call that the service itself gave up. */
export const endStopped = ({ title }: FailedService, reason: string | undefined): FailedEnd =>
  end({
    kind: 'raw_dump',
    message: [`${title} stopped its answer${reason === undefined ? '' : ` (${reason})`}.`, 'Continue to try again.'],
    detail: `the answer ended with the reason ${reason ?? 'error'}`,
    retryable: false,
    retryAfterMs: null,
  })

/** Ends a call without any data for `silenceMs`. */
export const endSilent = ({ title }: FailedService, silenceMs: number): FailedEnd =>
  end({
    kind: 'unreachable',
    message: [`${title} sent nothing for ${Math.round(silenceMs / 1000)} s.`, 'Continue to try again.'],
    detail: `nothing was received for ${silenceMs} ms`,
    retryable: true,
    retryAfterMs: null,
  })

const endWithCause = (failure: FailureDescription, detail: string): FailedEnd =>
  end({
    kind: findErrorKind(failure.cause, failure.details.status),
    message: describeFailure(failure),
    detail,
    retryable: isRetryable(failure.cause, failure.details.status),
    retryAfterMs: failure.waitMs,
  })

type EndFacts = Pick<FailedEnd, 'retryable' | 'retryAfterMs'> & {
  readonly kind: ErrorKind
  readonly message: readonly [happened: string, next: string]
  readonly detail: string
}
const end = ({ kind, message, detail, ...retry }: EndFacts): FailedEnd => {
  const fault = { kind, message: message.join(' '), detail }
  return { type: 'failed', fault, happened: message[0], ...retry, usage: null }
}

function describeRaw(error: unknown, details: FailureDetails): string {
  const causes = listCauses(error).map(({ name, message }) => `${name}: ${message.slice(0, quotedCharsMax)}`)
  const all = [
    details.status === undefined ? '' : `HTTP ${details.status}`,
    findRequestId(details),
    ...(causes.length > 0 ? causes : [stringify(error).slice(0, quotedCharsMax)]),
    details.body.slice(0, quotedCharsMax),
  ]
  return all.filter((text) => text !== '').join('\n')
}

/** Headers with the id that a service's support asks for. */
const requestIdNames = ['request-id', 'x-request-id', 'x-goog-request-id', 'cf-ray']

function findRequestId({ headers }: FailureDetails): string {
  const name = requestIdNames.find((one) => headers[one] !== undefined)
  return name === undefined ? '' : `${name}: ${headers[name]}`
}

function stringify(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return 'an error that cannot be serialized'
  }
}

/** Longer waits are reported as this. */
const waitMsMax = 7 * 24 * 3_600_000

/** Reads how long to wait: from a header, Google's own field, or the reset time of an exhausted limit. */
function readRetryAfter({ headers, retryDelay }: FailureDetails, now: number): number | null {
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
