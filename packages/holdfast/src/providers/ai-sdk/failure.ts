import {
  APICallError,
  EmptyResponseBodyError,
  JSONParseError,
  LoadAPIKeyError,
  TypeValidationError,
} from '@ai-sdk/provider'
import type { ModelEnd } from '@holdfast/core/ports'
import { clip, type ErrorKind, escapeLine, firstLine } from '@holdfast/protocol'
import { maskKeys } from './mask.ts'
import { retryAfterMs } from './retry-after.ts'

/** Who failed, and what a person is told to look at. */
export type Service = {
  readonly providerName: string
  /** Where a person put the key: `ANTHROPIC_API_KEY`. */
  readonly keyName: string
  /** Never to be seen in what we report. */
  readonly keys: readonly string[]
}
export type Failed = Extract<ModelEnd, { readonly type: 'failed' }>

const detailCharsMax = 4_000
const quotedCharsMax = 300

/** What went wrong, by type and status code, never by words: one sentence for people, the raw text for the log. */
export function failureOf(error: unknown, service: Service, now: number): Failed {
  const status = statusOf(error)
  const kind = kindOf(error, status)
  const wait = APICallError.isInstance(error) ? retryAfterMs(error.responseHeaders, now) : null
  return failed({
    kind,
    message: sentence(kind, { error, status, wait, service }),
    detail: clip(maskKeys(rawText(error, status), service.keys), detailCharsMax),
    retryable: kind === 'unreachable' || kind === 'rate_limited' || (status !== undefined && status >= 500),
    retryAfterMs: wait,
  })
}

/** The line went dead in the middle: what was said stays, and a turn can be taken up again. */
export const cutShort = ({ providerName }: Service): Failed =>
  failed({
    kind: 'unreachable',
    message: `The connection to ${title(providerName)} broke before the answer was whole. Continue to take it up again.`,
    detail: 'the stream ended without a finish',
    retryable: true,
    retryAfterMs: null,
  })

export const wentSilent = ({ providerName }: Service, silenceMs: number): Failed =>
  failed({
    kind: 'unreachable',
    message: `${title(providerName)} said nothing for ${Math.round(silenceMs / 1000)} s, so the call was given up. Continue to try again.`,
    detail: `nothing was received for ${silenceMs} ms`,
    retryable: true,
    retryAfterMs: null,
  })

type Parts = {
  readonly kind: ErrorKind
  readonly message: string
  readonly detail: string
  readonly retryable: boolean
  readonly retryAfterMs: number | null
}
const failed = ({ kind, message, detail, retryable, retryAfterMs }: Parts): Failed => ({
  type: 'failed',
  fault: { kind, message, detail },
  retryable,
  retryAfterMs,
  usage: null,
})

function kindOf(error: unknown, status: number | undefined): ErrorKind {
  if (LoadAPIKeyError.isInstance(error)) return 'auth_failed'
  if (status === 401) return 'rejected_key'
  if (status === 403) return 'auth_failed'
  if (status === 429 || status === 529) return 'rate_limited'
  if ((status === undefined || status < 400) && isConnectionTrouble(error)) return 'unreachable'
  return clearText(error) === null ? 'raw_dump' : 'passthrough'
}

type Told = {
  readonly error: unknown
  readonly status: number | undefined
  readonly wait: number | null
  readonly service: Service
}

function sentence(kind: ErrorKind, { error, status, wait, service }: Told): string {
  const name = title(service.providerName)
  const http = status === undefined ? '' : ` (HTTP ${status})`
  const then = wait === null ? 'Wait a little' : `Wait ${Math.ceil(wait / 1000)} s`
  switch (kind) {
    case 'rejected_key':
      return `${name} rejected the key. Check ${service.keyName}, then continue.`
    case 'auth_failed':
      return status === undefined
        ? `There is no usable key for ${name}. Set ${service.keyName}, then continue.`
        : `${name} does not allow this key to do that${http}. Use a key with access to the model, or another model.`
    case 'rate_limited':
      return `${name} ${status === 529 ? 'is overloaded' : 'limits how much it is asked'}. ${then}, then continue.`
    case 'unreachable':
      return `${name} could not be reached. Check the network and the address, then continue.`
    case 'raw_dump':
      return `${name} failed without a clear reason${http}. Continue to try again; the log has what it sent.`
    case 'passthrough':
      return `${name} could not answer${http}: ${quoted(maskKeys(clearText(error) ?? '', service.keys))} Change the request or the model, then continue.`
  }
}

// Masked before it is clipped: half a key is a key half given away.
const quoted = (text: string): string => escapeLine(firstLine(text, quotedCharsMax)).replace(/([^.!?])$/, '$1.')

/** The words a service chose for people, if it did: not a page of HTML, not a status line, not a parser's complaint. */
function clearText(error: unknown): string | null {
  if (APICallError.isInstance(error)) return messageIn(error.data) ?? messageIn(parsed(error.responseBody))
  if (EmptyResponseBodyError.isInstance(error) || JSONParseError.isInstance(error)) return null
  if (TypeValidationError.isInstance(error)) return null
  return messageIn(error)
}

function messageIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null
  if ('error' in value && typeof value.error === 'object') return messageIn(value.error)
  return 'message' in value && typeof value.message === 'string' && value.message.trim() !== '' ? value.message : null
}

function parsed(body: string | undefined): unknown {
  try {
    return JSON.parse(body ?? '')
  } catch {
    return null
  }
}

function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** No HTTP answer: the SDK says so by an API error without a status, sockets by their codes, `fetch` by a bare TypeError. */
function isConnectionTrouble(error: unknown): boolean {
  if (APICallError.isInstance(error) && error.statusCode === undefined) return true
  return causes(error).some(
    (cause) =>
      ('code' in cause &&
        typeof cause.code === 'string' &&
        /^(E[A-Z]{3,}|UND_ERR_|ERR_TLS|ERR_SSL|CERT_)/.test(cause.code)) ||
      (cause instanceof TypeError && /^(fetch failed|terminated)$/.test(cause.message)),
  )
}

function causes(error: unknown): readonly Error[] {
  const found: Error[] = []
  for (let at = error; at instanceof Error && found.length < 8; at = at.cause) found.push(at)
  return found
}

function rawText(error: unknown, status: number | undefined): string {
  const body = APICallError.isInstance(error) ? (error.responseBody ?? '') : ''
  const said = causes(error).map(({ name, message }) => `${name}: ${message}`)
  const all = [status === undefined ? '' : `HTTP ${status}`, ...(said.length > 0 ? said : [stringOf(error)]), body]
  return all.filter((text) => text !== '').join('\n')
}

function stringOf(value: unknown): string {
  try {
    return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  } catch {
    return 'an error that cannot be written down'
  }
}

const title = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
