import { APICallError, InvalidResponseDataError, LoadAPIKeyError } from '@ai-sdk/provider'
import type { ErrorKind } from '@holdfast/protocol'
import { TooMuchSaid } from '../services/too-much.ts'
import { WholeDocument } from '../services/whole-document.ts'
import type { FailureDetails, Headers } from './details.ts'
import { causesOf, type Trouble, troubleOf } from './trouble.ts'

/** What went wrong, as far as people need it told apart: each has its own sentence. */
export type FailureCase =
  | Trouble
  | 'no_key'
  | 'rejected_key'
  | 'no_access'
  | 'blocked'
  | 'no_credit'
  | 'limited'
  | 'overloaded'
  | 'unknown_model'
  | 'wrong_address'
  | 'too_long'
  | 'too_much'
  | 'refused_request'
  | 'service_error'
  | 'own_words'
  | 'unclear'

/** By the type of the error, the status, and the names a service has for it; never by words. */
export function caseOf(error: unknown, details: FailureDetails): FailureCase {
  const { status, names, words } = details
  const has = (...these: readonly string[]) => these.some((name) => names.has(name))

  if (LoadAPIKeyError.isInstance(error)) return 'no_key'
  if (causesOf(error).some((cause) => cause instanceof TooMuchSaid)) return 'too_much'
  if (status === 401 || has('API_KEY_INVALID')) return 'rejected_key'
  if (status === 403) return words === undefined ? 'blocked' : 'no_access'
  if (status === 402 || has('insufficient_quota', 'billing_error')) return 'no_credit'
  if (status === 429) return 'limited'
  if (status === 529 || (status === 503 && words !== undefined)) return 'overloaded'
  if (status === 413 || has('context_length_exceeded', 'exceed_context_size_error')) return 'too_long'
  if (status === 404 || status === 405) return isOfModel(details) ? 'unknown_model' : 'wrong_address'
  if (status !== undefined && status >= 300 && status < 400) return 'wrong_address' // it sends us elsewhere: no API does
  if (has('model_not_found', 'invalid_model')) return 'unknown_model'
  if (status === undefined || status < 400) return withoutStatus(error, details)
  if (words === undefined) return 'unclear'
  return status >= 500 ? 'service_error' : 'refused_request'
}

/** No answer, or one that was good until it broke. */
function withoutStatus(error: unknown, { words, headers }: FailureDetails): FailureCase {
  const trouble = troubleOf(error)
  if (trouble !== null) return trouble === 'no_http' ? 'wrong_address' : trouble
  // The library's word for a stream that ended before the service said that it is done.
  if (InvalidResponseDataError.isInstance(error)) return endedEarly(headers)
  if (error instanceof WholeDocument && words === undefined) return 'wrong_address'
  return words === undefined || APICallError.isInstance(error) ? 'unclear' : 'own_words'
}

/** A stream that ends early is a broken line; a page or a document where a stream should be came from somebody else. */
export const endedEarly = ({ 'content-type': type = '' }: Headers): FailureCase =>
  /^(text\/html|application\/(json|xml))\b/.test(type) ? 'wrong_address' : 'broken'

/**
 * Whether a "not found" is about the model. A server that knows nothing of the address answers with a page, or words of
 * its own; OpenAI, and those like it, with an error that names neither a code nor a parameter.
 */
function isOfModel({ status, names, words, field }: FailureDetails): boolean {
  if (status !== 404 || words === undefined || names.size === 0 || names.has('unknown_url')) return false
  return names.size > 1 || !names.has('invalid_request_error') || field !== undefined
}

/** The kind of a case: 429 and 529 are limits, 401 is the key, 403 is access, no HTTP answer is out of reach. */
export const kindOf = (failureCase: FailureCase, status: number | undefined): ErrorKind =>
  status === 429 || status === 529 ? 'rate_limited' : kinds[failureCase]

export const kinds: Readonly<Record<FailureCase, ErrorKind>> = {
  refused: 'unreachable',
  unknown_host: 'unreachable',
  untrusted: 'unreachable',
  timeout: 'unreachable',
  broken: 'unreachable',
  unreachable: 'unreachable',
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
}

/** Worth another try: limits, an overloaded or broken service, a connection that failed. Nothing a person must mend first. */
export function isRetryable(failureCase: FailureCase, status: number | undefined): boolean {
  if (failureCase === 'untrusted' || failureCase === 'no_credit') return false
  const kind = kindOf(failureCase, status)
  return kind === 'unreachable' || kind === 'rate_limited' || (status !== undefined && status >= 500)
}
