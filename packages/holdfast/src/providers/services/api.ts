import type { LanguageModelV4 } from '@ai-sdk/provider'
import { answeredStream } from './answered-stream.ts'
import { boundedAnswer } from './bounded-answer.ts'

/**
 * How a service is spoken to. `chat` is what OpenAI's completions became for everyone else; `completions` are OpenAI's own,
 * which differ from that in what they take, and `responses` is its newer API.
 */
export type Api = 'anthropic' | 'responses' | 'completions' | 'google' | 'chat'

/** Where a model is called: all that a library needs for it. Whatever is left out, it would look for in the process's environment. */
export type Endpoint = {
  readonly service: string
  readonly modelId: string
  readonly baseUrl: string
  readonly key: string | null
  readonly headers: { readonly [name: string]: string }
}

/** Loads the library and makes its model; nothing is called yet. */
export type LoadModel = (endpoint: Endpoint) => Promise<LanguageModelV4>

/** A library given no key takes one from the environment, which may be another service's: so it is always given one. */
export const noKey = 'none'

/**
 * A key goes where the person said and nowhere else: a service that answers with another address would have every header
 * but one sent there as well. Its answer is then the end of the call. Nor is more of an answer taken in than we can hold.
 */
export const fetchHere: typeof fetch = async (input, init) =>
  boundedAnswer(await answeredStream(await fetch(input, { ...init, redirect: 'manual' })))
