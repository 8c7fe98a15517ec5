import { type Fault, FaultSchema, fault, ok, type Result, refuse } from '@holdfast/protocol'

/** What time and chance are to the client, so that a test can hold them still. */
export type Pace = {
  readonly wait: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly chance: () => number
  /** A stream that says nothing this long, not even a heartbeat, is taken for dead. */
  readonly silenceMs: number
}

export type Ask = {
  /** Told where it is not by what is sent: nothing is a GET, something a POST. */
  readonly method?: 'POST' | 'DELETE' | undefined
  readonly body?: unknown
  /** Sent as they are, instead of a body in JSON. */
  readonly bytes?: Uint8Array | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** Requests to one server. Trouble on the way is the fault `unreachable`, what the server refuses is its own fault. */
export interface Http {
  readonly pace: Pace
  /** The answer's body as JSON. Posts when there is a body to post. */
  json(path: string, ask?: Ask): Promise<Result<unknown>>
  stream(path: string, ask?: Ask): Promise<Result<ReadableStream<Uint8Array>>>
}

export type HttpDeps = {
  readonly url: string
  readonly token: string | undefined
  readonly fetch: typeof fetch
  readonly pace: Pace
}

export function createHttp({ url, token, fetch, pace }: HttpDeps): Http {
  const base = new URL(url).origin
  const send = async (path: string, { method, body, bytes, headers, signal }: Ask): Promise<Result<Response>> => {
    try {
      const response = await fetch(`${base}${path}`, {
        method: method ?? (body === undefined && bytes === undefined ? 'GET' : 'POST'),
        headers: {
          ...headers,
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        redirect: 'error', // a token goes to the server it was given for, wherever that one points
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

function unreachableAt(base: string, error: unknown): Fault {
  const cause = error instanceof Error ? error.message : String(error)
  return fault('unreachable', `The server at ${base} cannot be reached.`, { cause })
}

async function faultOf(response: Response): Promise<Fault> {
  const body: unknown = await response.json().catch(() => null)
  const parsed = FaultSchema.safeParse(field(body, 'error'))
  if (parsed.success) return parsed.data
  return fault('unreachable', `Something that is not Holdfast answered with status ${response.status}.`)
}

/** A field of something that came over the wire and may be anything. */
export const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined

/** For an answer that does not fit its schema: the server is of another version, or no Holdfast at all. */
export const notUnderstood = (what: string): Result<never> =>
  refuse(fault('unreachable', `The server's answer to ${what} was not understood; its version may differ.`))

/** How long to wait before the next try: doubles up to the most, with chance in it, so that a crowd does not return at once. */
export function backoffMs(failures: number, chance: number): number {
  const most = Math.min(250 * 2 ** failures, 10_000)
  return Math.round(most * (0.5 + chance / 2))
}

/** Resolves after `ms`, or at once when `signal` aborts. */
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
