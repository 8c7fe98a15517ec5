import { escapeLine, firstLine } from '@holdfast/protocol'
import { keyMark, maskKeys } from '../../system/secrets/known-keys.ts'
import { isLocalAddress, redactAddress } from '../services/address.ts'
import type { FailureCause } from './cause.ts'
import type { FailureDetails } from './details.ts'

/** The service of a failed call, for the message. */
export type FailedService = {
  readonly title: string
  /** The model, by the service's name for it. */
  readonly modelId: string
  /** Where it is called, without secrets. */
  readonly endpoint?: string | undefined
  /** Where a person put the key: `ANTHROPIC_API_KEY`. */
  readonly keyName: string
}

export type FailureDescription = {
  readonly cause: FailureCause
  readonly details: FailureDetails
  readonly waitMs: number | null
  readonly service: FailedService
}

/** Returns what happened, and what to do next. While a call is retried, only the first is shown. */
export function describeFailure(failure: FailureDescription): readonly [happened: string, next: string] {
  const { service, details, waitMs } = failure
  const { title, modelId, keyName } = service
  const url = details.url ?? service.endpoint ?? ''
  const address = redactAddress(url) ?? 'its base URL'
  const host = URL.canParse(url) ? new URL(url).host : 'its address'
  const http = details.status === undefined || details.status < 300 ? '' : ` (HTTP ${details.status})`
  const wait = waitMs === null ? 'Wait a little' : `Wait ${Math.ceil(waitMs / 1000)} s`
  switch (failure.cause) {
    case 'refused':
      return [
        `Nothing listens at ${host}.`,
        `${isLocalAddress(url) ? `Start ${title} there or check` : 'Check the network or'} the base URL, then continue.`,
      ]
    case 'unknown_host':
      return [`Cannot resolve ${host}.`, `Check the network and the base URL of ${title}, then continue.`]
    case 'untrusted':
      return [
        `Cannot connect securely to ${host}: its certificate is not trusted, or it does not use TLS.`,
        `Check the base URL of ${title} and the certificates of this machine, then continue.`,
      ]
    case 'timeout':
      return [`${title} did not answer at ${host} in time.`, `Check the network, then continue.`]
    case 'broken':
      return [`The connection to ${title} broke before the answer was complete.`, `Continue to resume it.`]
    case 'unreachable':
      return [`Cannot reach ${title} at ${host}.`, `Check the network and the base URL, then continue.`]
    case 'no_http':
    case 'wrong_address':
      return [`The server at ${address} is not the API of ${title}${http}.`, `Check the base URL, then continue.`]
    case 'no_key':
      return [`There is no usable key for ${title}.`, `Set ${keyName}, then continue.`]
    case 'rejected_key':
      return [`${title} rejected the key${http}.`, `Check ${keyName}, then continue.`]
    case 'no_access':
      return [
        `${title} does not allow this key to use ${modelId}${http}: ${quoteService(failure)}`,
        `Use a key with access or another model, then continue.`,
      ]
    case 'blocked':
      return [
        `The call to ${host} was blocked${http}, probably not by ${title}.`,
        `Check the network, any proxy and the base URL, then continue.`,
      ]
    case 'no_credit':
      return [
        `The account at ${title} has no credit left${http}.`,
        `Add credit there or choose another model, then continue.`,
      ]
    case 'limited':
      return [`${title} limits the rate of requests${http}.`, `${wait}, then continue.`]
    case 'overloaded':
      return [`${title} is overloaded${http}.`, `${wait} or choose another model, then continue.`]
    case 'unknown_model':
      return [
        `${title} has no model ${modelId}${http}: ${quoteService(failure)}`,
        `Choose another model, then continue.`,
      ]
    case 'too_long':
      return [`The conversation is too long for ${modelId}${http}.`, `Compact it, then continue.`]
    case 'too_much':
      return [`The answer of ${title} is too long.`, `Check the base URL or choose another model, then continue.`]
    case 'refused_request':
      return [
        `${title} refused the request${http}${quoteField(failure)}: ${quoteService(failure)}`,
        `Change the request or the model, then continue.`,
      ]
    case 'service_error':
      return [`${title} failed${http}: ${quoteService(failure)}`, `Continue to try again.`]
    case 'own_words':
      return [`${title} could not answer: ${quoteService(failure)}`, `Change the request or the model, then continue.`]
    case 'unclear':
      return [`${title} failed without a clear reason${http}.`, `Continue to try again; the log has what it sent.`]
  }
}

/** Names the wrong field of a request, if the service's message does not. */
function quoteField({ details: { field, words = '' } }: FailureDescription): string {
  if (field === undefined || words.includes(field)) return ''
  return ` at ${escapeLine(firstLine(maskSecrets(field), 100))}`
}

/** How much of a message is searched for keys. A service may send megabytes. */
export const quotedCharsMax = 64 * 1024

// Masks before clipping: half a key is still a secret.
const quoteService = ({ details: { words = '' } }: FailureDescription): string =>
  escapeLine(firstLine(maskSecrets(words.slice(0, quotedCharsMax)), 300)).replace(/([^.!?])$/, '$1.')

// How keys look when a service quotes one: `sk-ant-…`, `Bearer …`, `x-api-key: …`, `?key=…`.
const keyPattern =
  /\b(?:sk|pk|rk)-[\w-]{8,}|(?<=\bbearer\s{1,8})[\w.~+/=-]{8,}|(?<=\bx-api-key["':\s]{1,8})[\w.~+/=-]{8,}|(?<=[?&](?:api[_-]?)?key=)[^&\s"'[\]]+/giu
/** User and password in an address. */
const loginPattern = /(?<=:\/\/)[^/\s@"']+(?=@)/gu
/** The few characters of invalid JSON that a parser quotes, which may be a part of a key. */
const quotedJson = /, (?:\.\.\.)?"[^\n]{0,60}?"(?:\.\.\.)?(?= is not valid JSON)/gu

/** Masks known keys, and everything that looks like a key, in a text of a service. */
export const maskSecrets = (text: string): string =>
  maskKeys(text).replace(quotedJson, '').replace(keyPattern, keyMark).replace(loginPattern, keyMark)
