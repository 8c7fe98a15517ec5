import type { ModelEnd } from '@holdfast/core/ports'
import { clip, type ErrorKind } from '@holdfast/protocol'
import { caseOf, endedEarly, isRetryable, kindOf } from './case.ts'
import { detailsOf, type FailureDetails, type Headers } from './details.ts'
import { maskQuoted } from './mask.ts'
import { retryAfterMs } from './retry-after.ts'
import { wordsOf } from './sentence.ts'
import { causesOf } from './trouble.ts'
import type { Service } from './who-failed.ts'

export type Failed = Extract<ModelEnd, { readonly type: 'failed' }>

export type FailureDeps = {
  readonly service: Service
  readonly now: number
  /** Of the answer whose stream failed, if there was one. */
  readonly headers?: Headers | undefined
}

const detailCharsMax = 4_000

/** What went wrong, by type, status and code, never by words: one sentence for people, the raw text for the log. */
export function failureOf(error: unknown, { service, now, headers }: FailureDeps): Failed {
  const details = detailsOf(error, headers)
  const failureCase = caseOf(error, details)
  const waitMs = retryAfterMs(details, now)
  return failed({
    kind: kindOf(failureCase, details.status),
    words: wordsOf({ failureCase, details, waitMs, service }),
    detail: clip(maskQuoted(rawText(error, details)), detailCharsMax),
    retryable: isRetryable(failureCase, details.status),
    retryAfterMs: waitMs,
  })
}

/** The stream ended before the service said that it is done: what was said stays, and a turn can be taken up again. */
export function cutShort({ service, headers = {} }: FailureDeps): Failed {
  const details = detailsOf(null, headers)
  const failureCase = endedEarly(headers)
  const type = headers['content-type'] ?? 'of no type'
  return failed({
    kind: kindOf(failureCase, undefined),
    words: wordsOf({ failureCase, details, waitMs: null, service }),
    detail: [`the answer (${type}) ended without a finish`, requestIdIn(details)]
      .filter((line) => line !== '')
      .join('\n'),
    retryable: isRetryable(failureCase, undefined),
    retryAfterMs: null,
  })
}

/** The service itself says that it stopped because something went wrong, by a word of its own and no more. */
export const stopped = ({ title }: Service, reason: string | undefined): Failed =>
  failed({
    kind: 'raw_dump',
    words: [`${title} gave its answer up${reason === undefined ? '' : ` (${reason})`}.`, 'Continue to try again.'],
    detail: `the answer ended with the reason ${reason ?? 'error'}`,
    retryable: false,
    retryAfterMs: null,
  })

export const wentSilent = ({ title }: Service, silenceMs: number): Failed =>
  failed({
    kind: 'unreachable',
    words: [
      `${title} said nothing for ${Math.round(silenceMs / 1000)} s, so the call was given up.`,
      'Continue to try again.',
    ],
    detail: `nothing was received for ${silenceMs} ms`,
    retryable: true,
    retryAfterMs: null,
  })

type Parts = {
  readonly kind: ErrorKind
  readonly words: readonly [happened: string, next: string]
  readonly detail: string
  readonly retryable: boolean
  readonly retryAfterMs: number | null
}
const failed = ({ kind, words, detail, retryable, retryAfterMs }: Parts): Failed => ({
  type: 'failed',
  fault: { kind, message: words.join(' '), detail },
  happened: words[0],
  retryable,
  retryAfterMs,
  usage: null,
})

function rawText(error: unknown, details: FailureDetails): string {
  const said = causesOf(error).map(({ name, message }) => `${name}: ${message}`)
  const all = [
    details.status === undefined ? '' : `HTTP ${details.status}`,
    requestIdIn(details),
    ...(said.length > 0 ? said : [stringOf(error)]),
    details.body,
  ]
  return all.filter((text) => text !== '').join('\n')
}

/** What a service wants to be told when it is asked about a call. */
const requestIdNames = ['request-id', 'x-request-id', 'x-goog-request-id', 'cf-ray']

function requestIdIn({ headers }: FailureDetails): string {
  const name = requestIdNames.find((one) => headers[one] !== undefined)
  return name === undefined ? '' : `${name}: ${headers[name]}`
}

function stringOf(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return 'an error that cannot be written down'
  }
}
