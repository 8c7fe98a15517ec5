import { escapeLine, firstLine } from '@holdfast/protocol'
import { isOnThisMachine, shownAddress } from '../services/address.ts'
import type { FailureCase } from './case.ts'
import type { FailureDetails } from './details.ts'
import { maskQuoted } from './mask.ts'
import type { Service } from './who-failed.ts'

const quotedCharsMax = 300
const fieldCharsMax = 100

export type Failure = {
  readonly failureCase: FailureCase
  readonly details: FailureDetails
  readonly waitMs: number | null
  readonly service: Service
}

/** What happened, and what to do next: while a call is tried again nobody need do anything. */
export function wordsOf(failure: Failure): readonly [happened: string, next: string] {
  const { service, details, waitMs } = failure
  const { title, modelId, keyName } = service
  const called = details.url ?? service.endpoint ?? ''
  const address = shownAddress(called) ?? 'its base URL'
  const host = URL.canParse(called) ? new URL(called).host : 'its address'
  const http = details.status === undefined || details.status < 300 ? '' : ` (HTTP ${details.status})`
  const wait = waitMs === null ? 'Wait a little' : `Wait ${Math.ceil(waitMs / 1000)} s`
  switch (failure.failureCase) {
    case 'refused':
      return [
        `Nothing listens at ${host}.`,
        `${isOnThisMachine(called) ? `Start ${title} there or check` : 'Check the network or'} the base URL, then continue.`,
      ]
    case 'unknown_host':
      return [`The name ${host} is not known.`, `Check the network and the base URL of ${title}, then continue.`]
    case 'untrusted':
      return [
        `No secure connection to ${host} came about: its certificate is not trusted, or it speaks no TLS.`,
        `Check the base URL of ${title} and the certificates of this machine, then continue.`,
      ]
    case 'timeout':
      return [`${title} did not answer at ${host} in time.`, `Check the network, then continue.`]
    case 'broken':
      return [`The connection to ${title} broke before the answer was whole.`, `Continue to take it up again.`]
    case 'unreachable':
      return [`${title} could not be reached at ${host}.`, `Check the network and the base URL, then continue.`]
    case 'no_http':
    case 'wrong_address':
      return [`What answers at ${address} is not the API of ${title}${http}.`, `Check the base URL, then continue.`]
    case 'no_key':
      return [`There is no usable key for ${title}.`, `Set ${keyName}, then continue.`]
    case 'rejected_key':
      return [`${title} rejected the key${http}.`, `Check ${keyName}, then continue.`]
    case 'no_access':
      return [
        `${title} does not allow this key to use ${modelId}${http}: ${quoted(failure)}`,
        `Use a key with access or another model, then continue.`,
      ]
    case 'blocked':
      return [
        `Something at ${host} refused the call${http}, without a word of ${title}.`,
        `Check the network, a proxy on the way and the base URL, then continue.`,
      ]
    case 'no_credit':
      return [
        `The account at ${title} has nothing left to pay with${http}.`,
        `Add credit there or choose another model, then continue.`,
      ]
    case 'limited':
      return [`${title} limits how much it is asked${http}.`, `${wait}, then continue.`]
    case 'overloaded':
      return [`${title} is overloaded${http}.`, `${wait} or choose another model, then continue.`]
    case 'unknown_model':
      return [`${title} has no model ${modelId}${http}: ${quoted(failure)}`, `Choose another model, then continue.`]
    case 'too_long':
      return [`The conversation is longer than ${modelId} takes${http}.`, `Compact it, then continue.`]
    case 'too_much':
      return [
        `${title} sent more in one answer than can be taken in.`,
        `Check the base URL or choose another model, then continue.`,
      ]
    case 'refused_request':
      return [
        `${title} refused the request${http}${at(failure)}: ${quoted(failure)}`,
        `Change the request or the model, then continue.`,
      ]
    case 'service_error':
      return [`${title} failed${http}: ${quoted(failure)}`, `Continue to try again.`]
    case 'own_words':
      return [`${title} could not answer: ${quoted(failure)}`, `Change the request or the model, then continue.`]
    case 'unclear':
      return [`${title} failed without a clear reason${http}.`, `Continue to try again; the log has what it sent.`]
  }
}

/** The rule a request broke, where a service names it by a field and not in its words. */
function at({ details: { field, words = '' } }: Failure): string {
  if (field === undefined || words.includes(field)) return ''
  return ` at ${escapeLine(firstLine(maskQuoted(field), fieldCharsMax))}`
}

// Masked before it is clipped: half a key is a key half given away.
const quoted = ({ details: { words = '' } }: Failure): string =>
  escapeLine(firstLine(maskQuoted(words), quotedCharsMax)).replace(/([^.!?])$/, '$1.')
