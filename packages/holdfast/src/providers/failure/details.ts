import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider'
import { WholeDocument } from '../services/whole-document.ts'

export type Headers = { readonly [name: string]: string | undefined }

/** What a service told of a failure, from the fields it has for that. Nothing here is read out of sentences. */
export type FailureDetails = {
  /** The HTTP status, or the one that stands for an error in the middle of a stream. */
  readonly status: number | undefined
  /** Its own names for what went wrong: `overloaded_error`, `insufficient_quota`, `API_KEY_INVALID`. */
  readonly names: ReadonlySet<string>
  /** The part of the request it complains of: `messages[3].content`. */
  readonly field: string | undefined
  /** The words it chose for people, if it did: not a page of HTML, not a status line. */
  readonly words: string | undefined
  /** How long it says to wait, where it says so in the body: `34s`. */
  readonly retryDelay: string | undefined
  readonly headers: Headers
  readonly url: string | undefined
  readonly body: string
}

/** Reads an error of the SDK, an error event of a stream, or anything else that was thrown. */
export function detailsOf(error: unknown, streamHeaders: Headers = {}): FailureDetails {
  const call = APICallError.isInstance(error) ? error : null
  const document = error instanceof WholeDocument ? error : null
  const body = call?.responseBody ?? document?.body ?? ''
  // The library keeps of a body what its schema names; the body itself has the rest.
  const said = call === null ? thrown(error) : (errorIn(parsed(body)) ?? errorIn(call.data) ?? {})
  const details = recordsIn(said['details'])
  const names = [said['type'], said['code'], said['status'], record(said['details'])?.['error_code']]
    .concat(details.map(({ reason }) => reason))
    .flatMap((name) => (typeof name === 'string' || typeof name === 'number' ? [String(name)] : []))
  return {
    status: statusOf(error) ?? statusIn(said) ?? names.map((name) => statuses[name]).find((status) => status),
    names: new Set(names),
    field: fieldIn(said, details),
    words: text(said['message']),
    retryDelay: details.map(({ retryDelay }) => text(retryDelay)).find((delay) => delay !== undefined),
    headers: { ...streamHeaders, ...call?.responseHeaders, ...document?.headers },
    url: call?.url ?? document?.url,
    body,
  }
}

type Fields = { readonly [name: string]: unknown }

/** Of an error event the library keeps a part, and the event itself as `data`. A parser's complaint is nobody's words. */
function thrown(error: unknown): Fields {
  if (TypeValidationError.isInstance(error)) return unforeseen(error.value)
  if (error instanceof WholeDocument) return unforeseen(parsed(error.body))
  if (isUnreadable(error)) return {}
  const own = errorIn(error)
  const kept = Object.entries(own ?? {}).filter(([, value]) => value !== undefined && value !== null)
  return { ...errorIn(own?.['data']), ...Object.fromEntries(kept), ...(own && { message: own['message'] }) }
}

/** What came in the middle of a stream, or in its place, and fits nothing the library knows may still be an error, in another form. */
function unforeseen(value: unknown): Fields {
  const came = record(Array.isArray(value) ? value[0] : value)
  return came?.['error'] === undefined && came?.['object'] !== 'error' ? {} : (errorIn(came) ?? {})
}

/** Whether an answer came that could not be read. */
const isUnreadable = (error: unknown): boolean =>
  [EmptyResponseBodyError, InvalidResponseDataError, JSONParseError].some((kind) => kind.isInstance(error))

/** Services put their error under `error`, some of them on top; Google streams one in a list. */
function errorIn(value: unknown): Fields | null {
  const outer = record(Array.isArray(value) ? value[0] : value)
  if (outer === null) return null
  const inner = record(outer['error'])
  if (inner !== null) return { ...inner, details: inner['details'] ?? outer['details'] }
  const response = record(outer['response'])
  if (response !== null) return errorIn(response)
  const bare = text(outer['message']) ?? text(outer['error']) ?? text(outer['detail'])
  return bare === undefined ? violationIn(outer) : { ...outer, message: bare }
}

/** Servers written with FastAPI list what is wrong with a request, and where: Mistral's as its message. */
function violationIn(outer: Fields): Fields | null {
  const [first] = recordsIn(record(outer['message'])?.['detail'] ?? outer['detail'])
  const path = Array.isArray(first?.['loc']) ? first['loc'].filter((step) => step !== 'body').join('.') : ''
  return first === undefined ? null : { ...outer, message: first['msg'], param: path }
}

/** Where a request is wrong: OpenAI and those like it name a parameter, Google lists the fields. */
function fieldIn(said: Fields, details: readonly Fields[]): string | undefined {
  const violations = details.flatMap(({ fieldViolations }) => recordsIn(fieldViolations))
  return text(said['param']) ?? violations.map(({ field }) => text(field)).find((field) => field !== undefined)
}

function statusOf(error: unknown): number | undefined {
  const status = record(error)?.['statusCode']
  return typeof status === 'number' ? status : undefined
}

/** Of an error without a status: many put it into `code`. */
function statusIn({ code, status }: Fields): number | undefined {
  return [code, status].map(Number).find((number) => Number.isInteger(number) && number >= 400 && number <= 599)
}

/** The status that an error event stands for, by the names that services document. */
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

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return null
  }
}
