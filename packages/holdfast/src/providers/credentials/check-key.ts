import { APICallError } from '@ai-sdk/provider'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { z } from 'zod'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { type FailureCause, findCause, findNetworkCause } from '../failure/cause.ts'
import { type FailureDetails, parseJson, readDetails } from '../failure/details.ts'
import { describeFailure } from '../failure/message.ts'
import { redactAddress } from '../services/address.ts'
import { readBody } from '../services/fetch.ts'
import type { Api } from '../services/presets.ts'

/** A key to check with a service. */
export type KeyCheck = {
  readonly title: string
  readonly api: Api
  /** With the version of its API. */
  readonly baseUrl: string
  /** Where to check the key, if the list of models is public. */
  readonly keyPath?: string | undefined
  /** Null if the service may need none. */
  readonly key: string | null
}

export type KeyVerdict =
  /** `account` is the owner of the key, if the service names it; `note` is for the user. */
  | { readonly type: 'accepted'; readonly account: string | null; readonly note: string | null }
  | { readonly type: 'rejected'; readonly message: string }
  /** The service is unreachable, does not answer now, or is another server. */
  | { readonly type: 'unknown'; readonly message: string }

const answerMsMax = 10_000
/** More than the longest list of models. */
const bodyBytesMax = 4 * 1024 * 1024

/** Checks a key with one free request: the list of models, or the key itself. */
export async function checkKey(check: KeyCheck, options: { readonly signal?: AbortSignal } = {}): Promise<KeyVerdict> {
  const { path, headers } = buildRequest(check)
  const timeout = AbortSignal.timeout(answerMsMax)
  try {
    const answer = await fetch(`${check.baseUrl.replace(/(?<!\/)\/+$/, '')}${path}`, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual', // a redirect would send the key to another server
      signal: options.signal ? AbortSignal.any([timeout, options.signal]) : timeout,
    })
    return readVerdict(check, answer, (await readBody(answer, bodyBytesMax)) ?? '')
  } catch (error) {
    if (options.signal?.aborted) throw error
    return { type: 'unknown', message: explain(findNetworkCause(error) ?? 'unreachable', readDetails(error), check) }
  }
}

function buildRequest({ api, keyPath, key }: KeyCheck): { path: string; headers: Record<string, string> } {
  switch (api) {
    case 'anthropic':
      return { path: '/models?limit=1', headers: { 'x-api-key': key ?? '', 'anthropic-version': '2023-06-01' } }
    case 'google':
      return { path: '/models?pageSize=1', headers: { 'x-goog-api-key': key ?? '' } }
    default:
      return { path: keyPath ?? '/models', headers: key === null ? {} : { authorization: `Bearer ${key}` } }
  }
}

/** Uses the same causes as a failed call. */
function readVerdict(check: KeyCheck, answer: Response, body: string): KeyVerdict {
  const { title } = check
  const { status, headers } = answer
  const json = parseJson(body)
  if (answer.ok && Listed.safeParse(json).success)
    return { type: 'accepted', account: findAccount(headers, json), note: null }
  const error = new APICallError({
    message: '',
    url: check.baseUrl,
    requestBodyValues: {},
    statusCode: status,
    responseBody: body,
    responseHeaders: Object.fromEntries(headers),
  })
  const details = readDetails(error)
  const cause = findCause(error, details)
  switch (cause) {
    case 'rejected_key':
      return { type: 'rejected', message: `${title} rejected this key. Copy it again, or create a new one.` }
    case 'no_access': {
      const note = `${title} accepts the key but does not let it list models. It may be restricted.`
      return { type: 'accepted', account: findAccount(headers, json), note }
    }
    case 'blocked':
      return { type: 'unknown', message: `${explain(cause, details, check)} Check the address and any proxy.` }
    default:
      return { type: 'unknown', message: explainUnexpected(check, answer) }
  }
}

function explainUnexpected({ title, baseUrl }: KeyCheck, { ok, status }: Response): string {
  const isOtherServer = ok || status < 400 || status === 404 || status === 405
  return isOtherServer
    ? `${redactAddress(baseUrl) ?? 'This address'} is not the API of ${title} (HTTP ${status}). Check the address.`
    : `${title} cannot check the key now (HTTP ${status}).`
}

/** Returns the message that a failed call would show. */
const explain = (cause: FailureCause, details: FailureDetails, { title, baseUrl }: KeyCheck): string => {
  const service = { title, modelId: '', endpoint: baseUrl, keyName: 'the key' }
  return describeFailure({ cause, details, waitMs: null, service })[0]
}

/** A list of models in the format of any service, or facts about a key. Any server can answer with JSON. */
const Listed = z.union([
  z.looseObject({ data: z.union([z.array(z.looseObject({})), z.looseObject({})]) }),
  z.looseObject({ models: z.array(z.looseObject({})) }),
  z.array(z.looseObject({ id: z.string() })),
])
const Labelled = z.looseObject({ data: z.looseObject({ label: z.string() }) })

function findAccount(headers: Headers, json: unknown): string | null {
  const label = Labelled.safeParse(json).data?.data.label
  const account = headers.get('anthropic-organization-id') ?? headers.get('openai-organization') ?? label ?? ''
  // OpenRouter labels an unnamed key with a part of the key, which must not be shown.
  if (account.trim() === '' || account.startsWith('sk-')) return null
  return escapeLine(maskKeys(account.trim())).slice(0, 120)
}
