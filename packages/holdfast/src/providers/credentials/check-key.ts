import { APICallError } from '@ai-sdk/provider'
import { escapeLine } from '@holdfast/protocol/hostile-text'
import { z } from 'zod'
import { maskKeys } from '../../system/secrets/known-keys.ts'
import { caseOf, type FailureCase } from '../failure/case.ts'
import { detailsOf, type FailureDetails } from '../failure/details.ts'
import { wordsOf } from '../failure/sentence.ts'
import { troubleOf } from '../failure/trouble.ts'
import { shownAddress } from '../services/address.ts'
import type { Api } from '../services/api.ts'
import { readBody } from '../services/read-body.ts'

/** How a service is asked whether it knows a key. */
export type KeyCheck = {
  /** As people call it. */
  readonly title: string
  readonly api: Api
  /** Where it is called, with the version of its API. */
  readonly baseUrl: string
  /** Where it tells about a key, if not by its list of models. */
  readonly keyPath?: string | undefined
  /** None, where the service may need none. */
  readonly key: string | null
}

export type KeyVerdict =
  /** What the service calls whoever the key belongs to, where it says so; and what people should know beside. */
  | { readonly type: 'accepted'; readonly account: string | null; readonly note: string | null }
  | { readonly type: 'rejected'; readonly message: string }
  /** Nobody knows: the service is out of reach, does not answer now, or is none. */
  | { readonly type: 'unknown'; readonly message: string }

const answerMsMax = 10_000
/** More than the longest list of models there is. */
const bodyBytesMax = 4 * 1024 * 1024
const accountCharsMax = 120

/** Asks the service once, for a list or about the key itself: nothing that costs, and never for an answer of a model. */
export async function checkKey(check: KeyCheck, options: { readonly signal?: AbortSignal } = {}): Promise<KeyVerdict> {
  const { path, headers } = question(check)
  const timeout = AbortSignal.timeout(answerMsMax)
  try {
    const answer = await fetch(`${check.baseUrl.replace(/\/+$/, '')}${path}`, {
      headers: { accept: 'application/json', ...headers },
      redirect: 'manual', // or the key would be handed to wherever it leads
      signal: options.signal ? AbortSignal.any([timeout, options.signal]) : timeout,
    })
    return judge(check, answer, (await readBody(answer, bodyBytesMax)) ?? '')
  } catch (error) {
    if (options.signal?.aborted) throw error
    return { type: 'unknown', message: happened(troubleOf(error) ?? 'unreachable', detailsOf(error), check) }
  }
}

function question({ api, keyPath, key }: KeyCheck): {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
} {
  switch (api) {
    case 'anthropic':
      return { path: '/models?limit=1', headers: { 'x-api-key': key ?? '', 'anthropic-version': '2023-06-01' } }
    case 'google':
      return { path: '/models?pageSize=1', headers: { 'x-goog-api-key': key ?? '' } }
    default:
      return { path: keyPath ?? '/models', headers: key === null ? {} : { authorization: `Bearer ${key}` } }
  }
}

/** By the same cases as a call that fails. */
function judge(check: KeyCheck, answer: Response, body: string): KeyVerdict {
  const { title } = check
  const { status, headers } = answer
  const said = jsonIn(body)
  if (answer.ok && Listed.safeParse(said).success)
    return { type: 'accepted', account: accountOf(headers, said), note: null }
  const error = new APICallError({
    ...{ message: '', url: check.baseUrl, requestBodyValues: {}, statusCode: status },
    ...{ responseBody: body, responseHeaders: Object.fromEntries(headers) },
  })
  const details = detailsOf(error)
  const failureCase = caseOf(error, details)
  switch (failureCase) {
    case 'rejected_key':
      return { type: 'rejected', message: `${title} rejects this key. Copy it again, or make a new one.` }
    case 'no_access':
      return {
        type: 'accepted',
        account: accountOf(headers, said),
        note: `${title} knows the key but does not let it look at the list of models; it may be restricted.`,
      }
    case 'blocked':
      return { type: 'unknown', message: `${happened(failureCase, details, check)} Check the address, and any proxy.` }
    default:
      return { type: 'unknown', message: unclear(check, answer) }
  }
}

function unclear({ title, baseUrl }: KeyCheck, { ok, status }: Response): string {
  const isElsewhere = ok || status < 400 || status === 404 || status === 405
  return isElsewhere
    ? `${shownAddress(baseUrl) ?? 'This address'} does not answer as ${title} does (HTTP ${status}). Check the address.`
    : `${title} cannot say now whether it knows the key (HTTP ${status}).`
}

/** In the words that a call would fail with. */
const happened = (failureCase: FailureCase, details: FailureDetails, { title, baseUrl }: KeyCheck): string =>
  wordsOf({
    failureCase,
    details,
    waitMs: null,
    service: { title, modelId: '', endpoint: baseUrl, keyName: 'the key' },
  })[0]

/** A list of models as one service or the other gives it, or what is told of a key. Anyone can answer with JSON. */
const Listed = z.union([
  z.looseObject({ data: z.union([z.array(z.looseObject({})), z.looseObject({})]) }),
  z.looseObject({ models: z.array(z.looseObject({})) }),
  z.array(z.looseObject({ id: z.string() })),
])
const Labelled = z.looseObject({ data: z.looseObject({ label: z.string() }) })

function accountOf(headers: Headers, said: unknown): string | null {
  const label = Labelled.safeParse(said).data?.data.label
  const account = headers.get('anthropic-organization-id') ?? headers.get('openai-organization') ?? label ?? ''
  // A key that nobody named goes by a part of itself, which is not for a screen.
  if (account.trim() === '' || account.startsWith('sk-')) return null
  return escapeLine(maskKeys(account.trim())).slice(0, accountCharsMax)
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
