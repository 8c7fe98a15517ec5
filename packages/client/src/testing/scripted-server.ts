import { encodeFrame, type Frame } from '@holdfast/protocol'
import type { Pace } from '../http/http.ts'
import { connectSessions } from '../remote/connect-sessions.ts'

export type Asked = {
  readonly path: string
  readonly body: unknown
  readonly headers: Headers
  readonly signal: AbortSignal | null
}
export type Reply = (asked: Asked) => Response | Promise<Response>

/** A server that answers each request with the next line of its script, and time that passes at once. */
export function createScriptedServer(script: readonly Reply[], pace: Partial<Pace> = {}) {
  const asked: Asked[] = []
  const waits: number[] = []
  const replies = [...script]
  const sessions = connectSessions({
    url: 'http://127.0.0.1:4820/',
    token: 'token-1',
    async fetch(input, init) {
      const { pathname, search } = new URL(String(input))
      const one: Asked = {
        path: pathname + search,
        body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
        headers: new Headers(init?.headers),
        signal: init?.signal ?? null,
      }
      asked.push(one)
      const reply = replies.shift()
      if (!reply) throw new TypeError('the script has ended')
      return reply(one)
    },
    pace: {
      wait: async (ms) => {
        waits.push(ms)
      },
      chance: () => 0.5,
      ...pace,
    },
  })
  return { sessions, asked, waits }
}

export const refused: Reply = () => {
  throw new TypeError('connection refused')
}

export const json =
  (body: unknown, status = 200): Reply =>
  () =>
    Response.json(body, { status })

export const fails = (code: string, status: number): Reply => json({ error: { code, message: 'a sentence' } }, status)

/** A stream that gives these frames and then breaks off, ends, or stays open until the client leaves. */
export const streams =
  (frames: readonly (Frame | string)[], then: 'breaks' | 'ends' | 'stays' = 'ends'): Reply =>
  ({ signal }) =>
    new Response(
      new ReadableStream({
        start(controller) {
          const encoder = new TextEncoder()
          for (const frame of frames) {
            for (const piece of typeof frame === 'string' ? [encoder.encode(frame)] : encodeFrame(frame))
              controller.enqueue(piece)
          }
          if (then === 'ends') controller.close()
          else signal?.addEventListener('abort', () => controller.error(new DOMException('gone', 'AbortError')))
        },
        pull(controller) {
          if (then === 'breaks') controller.error(new TypeError('connection reset'))
        },
      }),
    )
