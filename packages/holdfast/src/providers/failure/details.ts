import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider'
import { NotAStreamError } from '../services/fetch.ts'

export type Headers = { readonly [name: string]: string | undefined }

/** The fields of a service's error. Nothing is parsed out of messages. */
export type FailureDetails = {
  /** The HTTP status, or the equivalent of an error event in a stream. */
  readonly status: number | undefined
  /** The service's error names: `overloaded_error`, `insufficient_quota`, `API_KEY_INVALID`. */
  readonly names: ReadonlySet<string>
  /** The wrong part of the request: `messages[3].content`. */
  readonly field: string | undefined
  /** The service's own message, if it sent one: not an HTML page, not a status line. */
  readonly words: string | undefined
  /** How long to wait, if the body says so: `34s`. */
  readonly retryDelay: string | undefined
  readonly headers: Headers
  readonly url: string | undefined
  readonly body: string
}

/** Reads an error of the SDK, an error event of a stream, or any other thrown value. */
export function readDetails(error: unknown, streamHeaders: Headers = {}): FailureDetails {
  const call = APICallError.isInstance(error) ? error : null
  const document = error instanceof NotAStreamError ? error : null
  const body = call?.responseBody ?? document?.body ?? ''
  // `data` has only the fields of the library's schema; the body has all.
  const fields = call === null ? readThrown(error) : (findError(parseJson(body)) ?? findError(call.data) ?? {})
  const details = recordsIn(fields['details'])
  const names = [fields['type'], fields['code'], fields['status'], record(fields['details'])?.['error_code']]
    .concat(details.map(({ reason }) => reason))
    .flatMap((name) => (typeof name === 'string' || typeof name === 'number' ? [String(name)] : []))
  return {
    status: findStatus(error, fields) ?? names.map((name) => statuses[name]).find((status) => status),
    names: new Set(names),
    field: findField(fields, details),
    words: text(fields['message']),
    retryDelay: details.map(({ retryDelay }) => text(retryDelay)).find((delay) => delay !== undefined),
    headers: { ...streamHeaders, ...call?.responseHeaders, ...document?.headers },
    url: call?.url ?? document?.url,
    body,
  }
}

type Fields = { readonly [name: string]: unknown }

/** The library keeps some fields of an error event, and the event itself as `data`. A parser error has no message of the service. */
function readThrown(error: unknown): Fields {
  if (TypeValidationError.isInstance(error)) return readUnexpected(error.value)
  if (error instanceof NotAStreamError) return readUnexpected(parseJson(error.body))
  if (isUnreadable(error)) return {}
  const own = findError(error)
  const known = Object.entries(own ?? {}).filter(([, value]) => value !== undefined && value !== null)
  return { ...findError(own?.['data']), ...Object.fromEntries(known), ...(own && { message: own['message'] }) }
}

/** A value that the library does not know, in a stream or instead of one, may be an error in another format. */
function readUnexpected(value: unknown): Fields {
  const object = record(Array.isArray(value) ? value[0] : value)
  return object?.['error'] === undefined && object?.['object'] !== 'error' ? {} : (findError(object) ?? {})
}

const isUnreadable = (error: unknown): boolean =>
  [EmptyResponseBodyError, InvalidResponseDataError, JSONParseError].some((kind) => kind.isInstance(error))

/** Finds the error: most services put it under `error`, some at the top, Google in a list. */
function findError(value: unknown): Fields | null {
  const outer = record(Array.isArray(value) ? value[0] : value)
  if (outer === null) return null
  const inner = record(outer['error'])
  if (inner !== null) return { ...inner, details: inner['details'] ?? outer['details'] }
  const response = record(outer['response'])
  if (response !== null) return findError(response)
  const message = text(outer['message']) ?? text(outer['error']) ?? text(outer['detail'])
  return message === undefined ? findViolation(outer) : { ...outer, message }
}

/** Servers built with FastAPI list the wrong fields; Mistral's under `message`. */
function findViolation(outer: Fields): Fields | null {
  const [first] = recordsIn(record(outer['message'])?.['detail'] ?? outer['detail'])
  const path = Array.isArray(first?.['loc']) ? first['loc'].filter((step) => step !== 'body').join('.') : ''
  return first === undefined ? null : { ...outer, message: first['msg'], param: path }
}

/** Finds the wrong field: OpenAI and similar services name a parameter, Google lists fields. */
function findField(fields: Fields, details: readonly Fields[]): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) => recordsIn(fieldViolations))
  return text(fields['param']) ?? violations.map(({ field }) => text(field)).find((field) => field !== undefined)
}

/** Many services put the status into `code`. */
function findStatus(error: unknown, { code, status }: Fields): number | undefined {
  const given = record(error)?.['statusCode']
  if (typeof given === 'number') return given
  return [code, status].map(Number).find((one) => Number.isInteger(one) && one >= 400 && one <= 599)
}

/** The equivalent status of documented error names. */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  context_length_exceeded: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  internal_server_error: 500,
  overloaded_error: 529,
}

const record = (value: unknown): Fields | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null // any object has fields

const recordsIn = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.map(record).filter((one) => one !== null) : []

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined

/** Returns null for text that is not JSON. */
export function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
