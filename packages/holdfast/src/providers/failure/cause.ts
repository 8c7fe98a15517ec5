import { APICallError, InvalidResponseDataError, LoadAPIKeyError } from '@ai-sdk/provider'
import type { ErrorKind } from '@holdfast/protocol'
import { NotAStreamError } from '../services/fetch.ts'
import { AnswerTooLongError } from '../services/stream-check.ts'
import type { FailureDetails, Headers } from './details.ts'

/** Why a call failed. Each cause has its own message. */
export type FailureCause = keyof typeof errorKinds

/** Finds the cause by the type of the error, the status, and the service's error names; never by message texts. */
export function findCause(error: unknown, details: FailureDetails): FailureCause {
  const { status, names, words } = details
  const has = (...these: readonly string[]) => these.some((name) => names.has(name))

  if (LoadAPIKeyError.isInstance(error)) return 'no_key'
  if (listCauses(error).some((cause) => cause instanceof AnswerTooLongError)) return 'too_much'
  if (status === 401 || has('API_KEY_INVALID')) return 'rejected_key'
  if (status === 403) return words === undefined ? 'blocked' : 'no_access'
  if (status === 402 || has('insufficient_quota', 'billing_error')) return 'no_credit'
  if (status === 429) return 'limited'
  if (status === 529 || (status === 503 && words !== undefined)) return 'overloaded'
  if (status === 413 || has('context_length_exceeded', 'exceed_context_size_error')) return 'too_long'
  if (status === 404 || status === 405) return isAboutModel(details) ? 'unknown_model' : 'wrong_address'
  if (status !== undefined && status >= 300 && status < 400) return 'wrong_address' // no model API redirects
  if (has('model_not_found', 'invalid_model')) return 'unknown_model'
  if (status === undefined || status < 400) return findCauseWithoutStatus(error, details)
  if (words === undefined) return 'unclear'
  return status >= 500 ? 'service_error' : 'refused_request'
}

/** There was no answer, or a good one that broke off. */
function findCauseWithoutStatus(error: unknown, { words, headers }: FailureDetails): FailureCause {
  const network = findNetworkCause(error)
  if (network !== null) return network === 'no_http' ? 'wrong_address' : network
  // The library throws this for a stream without a finish.
  if (InvalidResponseDataError.isInstance(error)) return findEarlyEndCause(headers)
  if (error instanceof NotAStreamError && words === undefined) return 'wrong_address'
  return words === undefined || APICallError.isInstance(error) ? 'unclear' : 'own_words'
}

/** A stream that ends early is a broken connection; a document instead of a stream is from another server. */
export const findEarlyEndCause = ({ 'content-type': type = '' }: Headers): FailureCause =>
  /^(text\/html|application\/(json|xml))\b/.test(type) ? 'wrong_address' : 'broken'

/**
 * Returns whether a 404 is about the model. A wrong address gives a page or other text; at OpenAI and similar services,
 * an error with neither code nor parameter.
 */
function isAboutModel({ status, names, words, field }: FailureDetails): boolean {
  if (status !== 404 || words === undefined || names.size === 0 || names.has('unknown_url')) return false
  return names.size > 1 || !names.has('invalid_request_error') || field !== undefined
}

/** Codes of Node's sockets and of `fetch`, in the order in which they are tried. */
const networkCodes: readonly (readonly [FailureCause, RegExp])[] = [
  ['refused', /^ECONNREFUSED$/],
  ['unknown_host', /^(ENOTFOUND|EAI_[A-Z]+)$/],
  ['untrusted', /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|[A-Z_]*SELF_SIGNED_CERT|UNABLE_TO_[A-Z_]*(CERT|SIGNATURE))/],
  ['timeout', /^(ETIMEDOUT|UND_ERR_[A-Z]+_TIMEOUT)$/],
  ['no_http', /^(HPE_|ERR_INVALID_URL$)/],
  ['broken', /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|UND_ERR_ABORTED|ERR_STREAM_PREMATURE_CLOSE)$/],
  ['unreachable', /^(E[A-Z]{3,}|UND_ERR_)/],
]

/** Finds the network cause of an error; null if it is not a network error. */
export function findNetworkCause(error: unknown): FailureCause | null {
  const causes = listCauses(error)
  const known = causes.map((cause) => ('code' in cause ? String(cause.code) : ''))
  if (causes.some(({ name }) => name === 'TimeoutError')) return 'timeout' // of an AbortSignal
  if (causes.some(({ name }) => name === 'HTTPParserError')) return 'no_http' // it has a code in some versions only
  for (const [cause, pattern] of networkCodes) if (known.some((code) => pattern.test(code))) return cause
  // `fetch` throws a plain TypeError for a broken connection, and the SDK an error without a status for a failed one.
  if (causes.some((cause) => cause instanceof TypeError && /^terminated$/.test(cause.message))) return 'broken'
  if (causes.some((cause) => cause instanceof TypeError && /^fetch failed$/.test(cause.message))) return 'unreachable'
  return APICallError.isInstance(error) && error.statusCode === undefined ? 'unreachable' : null
}

/** Lists an error and its causes; of several attempts to connect, only the first. */
export function listCauses(error: unknown): readonly Error[] {
  const causes: Error[] = []
  let next = error
  while (next instanceof Error && causes.length < 8) {
    causes.push(next)
    next = next.cause ?? (next instanceof AggregateError ? next.errors[0] : undefined)
  }
  return causes
}

/** Returns the error kind. 429 and 529 are limits, 401 is the key, 403 is access, no HTTP answer is unreachable. */
export const findErrorKind = (cause: FailureCause, status: number | undefined): ErrorKind =>
  status === 429 || status === 529 ? 'rate_limited' : errorKinds[cause]

export const errorKinds = {
  /** Nothing listens at the address. */
  refused: 'unreachable',
  unknown_host: 'unreachable',
  /** No TLS connection. */
  untrusted: 'unreachable',
  timeout: 'unreachable',
  /** The connection broke during the answer. */
  broken: 'unreachable',
  unreachable: 'unreachable',
  /** The server does not speak HTTP, or the address is invalid. */
  no_http: 'raw_dump',
  no_key: 'auth_failed',
  rejected_key: 'rejected_key',
  no_access: 'auth_failed',
  blocked: 'auth_failed',
  no_credit: 'passthrough',
  limited: 'rate_limited',
  overloaded: 'passthrough',
  unknown_model: 'passthrough',
  wrong_address: 'raw_dump',
  too_long: 'passthrough',
  too_much: 'raw_dump',
  refused_request: 'passthrough',
  service_error: 'passthrough',
  own_words: 'passthrough',
  unclear: 'raw_dump',
} as const satisfies Record<string, ErrorKind>

/** Returns whether a retry can help: limits, an overloaded or failing service, a failed connection. */
export function isRetryable(cause: FailureCause, status: number | undefined): boolean {
  if (cause === 'untrusted' || cause === 'no_credit') return false
  const kind = findErrorKind(cause, status)
  return kind === 'unreachable' || kind === 'rate_limited' || (status !== undefined && status >= 500)
}
