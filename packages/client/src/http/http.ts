import {
  errorMessage,
  type Fault,
  FaultSchema,
  fault,
  HoldfastError,
  ok,
  type Result,
  refuse,
} from '@holdfast/protocol'
import { createPauseGate, type PauseGate } from './pause-gate.ts'
import type { SharedStream } from './shared-stream.ts'

/** Time and randomness, replaceable in tests. */
export type Pace = {
  /** Resolves after this time, or when the signal aborts. */
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Returns a random number from 0 to 1. */
  readonly chance: () => number
  /** A stream without data or heartbeats for this long is dead. */
  readonly silenceMs: number
}

export type Ask = {
  /** GET without a body and POST with one, when absent. */
  readonly method?: 'POST' | 'DELETE' | undefined
  readonly body?: unknown
  /** Sent unchanged instead of a JSON body. */
  readonly bytes?: Uint8Array | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** The request outlives a page that closes. */
  readonly isLast?: boolean | undefined
}

/** Sends requests to one server. Network errors become the fault `unreachable`. */
export interface Http {
  readonly pace: Pace
  /** The connection that carries all streams of this client; without one, each stream has a connection of its own. */
  readonly shared?: SharedStream | undefined
  /** Pauses the streams with a connection of their own. */
  readonly gate: PauseGate
  /** Returns the body of the answer as JSON. */
  json(path: string, ask?: Ask): Promise<Result<unknown>>
  stream(path: string, ask?: Ask): Promise<Result<ReadableStream<Uint8Array>>>
}

type HttpDeps = {
  readonly url: string
  readonly token: string | undefined
  readonly fetch: typeof fetch
  readonly pace: Pace
}

export function createHttp({ url, token, fetch, pace }: HttpDeps): Http {
  const base = baseOf(url)
  const send = async (
    path: string,
    { method, body, bytes, headers, signal, isLast }: Ask,
  ): Promise<Result<Response>> => {
    try {
      const response = await fetch(`${base}${path}`, {
        method: method ?? (body === undefined && bytes === undefined ? 'GET' : 'POST'),
        headers: {
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(isLast && { keepalive: true }),
        redirect: 'error', // never send the token to another server
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(bytes !== undefined && { body: new Uint8Array(bytes) }),
        ...(signal && { signal }),
      })
      return response.ok ? ok(response) : refuse(await faultOf(response))
    } catch (error) {
      return refuse(unreachableAt(base, error))
    }
  }

  return {
    pace,
    gate: createPauseGate(),

    async json(path, ask = {}) {
      const response = await send(path, ask)
      if (!response.ok) return response
      try {
        return ok(await response.value.json())
      } catch (error) {
        return refuse(unreachableAt(base, error))
      }
    },

    async stream(path, ask = {}) {
      const response = await send(path, ask)
      if (!response.ok) return response
      return response.value.body ? ok(response.value.body) : refuse(unreachableAt(base, 'the answer has no body'))
    },
  }
}

/** Returns the address that paths are added to: the origin, and the folder behind which a proxy has the server. Throws `bad_request`. */
function baseOf(url: string): string {
  if (typeof url === 'string' && URL.canParse(url)) {
    const { origin, pathname } = new URL(url)
    return `${origin}${pathname.endsWith('/') ? pathname.slice(0, -1) : pathname}`
  }
  const message = 'The address of the server is not a URL. Give one like http://127.0.0.1:4820.'
  throw new HoldfastError(fault('bad_request', message))
}

function unreachableAt(base: string, error: unknown): Fault {
  const cause = errorMessage(error)
  return fault('unreachable', `The server at ${base} cannot be reached.`, { cause })
}

async function faultOf(response: Response): Promise<Fault> {
  const body: unknown = await response.json().catch(() => null)
  const parsed = FaultSchema.safeParse(field(body, 'error'))
  if (parsed.success) return parsed.data
  return fault('unreachable', `Another program answered with status ${response.status}. Is the address right?`)
}

/** Returns a field of an unknown value. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

type Schema<Value> = {
  readonly safeParse: (value: unknown) => { readonly success: true; readonly data: Value } | { readonly success: false }
}

/** Parses an answer, or one field of it. Refuses an answer that does not fit its schema. */
export function parseAnswer<Value>(
  answer: Result<unknown>,
  what: string,
  schema: Schema<Value>,
  name?: string,
): Result<Value> {
  if (!answer.ok) return answer
  const parsed = schema.safeParse(name === undefined ? answer.value : field(answer.value, name))
  if (parsed.success) return ok(parsed.data)
  return refuse(fault('unreachable', `The answer of the server to ${what} is not valid. Its version may differ.`))
}

/** Returns a query string of the options that are set. */
export function queryOf(options: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(options)) if (value !== undefined) query.set(name, String(value))
  return query.size > 0 ? `?${query}` : ''
}

/** Returns the wait before a retry: exponential, with a maximum and jitter. */
export function backoffMs(failures: number, chance: number): number {
  const max = Math.min(250 * 2 ** failures, 10_000)
  return Math.round(max * (0.5 + chance / 2))
}

/** Resolves after `ms`, or when `signal` aborts. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve()
    const settle = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', settle)
      resolve()
    }
    const timer = setTimeout(settle, ms)
    signal?.addEventListener('abort', settle)
  })
}

/** Yields the chunks of a stream. Not every browser can iterate it. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    await reader.cancel().catch(() => undefined) // it may be closed or broken, which `read` reports
  }
}
