import { request as httpRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import type { ServerProcess } from '../e2e/server-process.ts'

type Asked = {
  readonly method?: string
  readonly body?: unknown
  readonly bytes?: Uint8Array<ArrayBuffer>
  readonly headers?: { readonly [name: string]: string }
}

export type HttpAnswer = { readonly status: number; readonly text: string }

/**
 * Sends one request with the server's token on a connection of its own, as a client that is not ours would. A kept
 * connection would break: the rig builds its input for seconds, and the server closes idle connections meanwhile.
 */
export function ask(
  server: ServerProcess,
  path: string,
  { method, body, bytes, headers = {} }: Asked = {},
): Promise<HttpAnswer> {
  const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
  const options = {
    agent: false,
    method: method ?? (sent === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${server.token}`,
      ...(bytes === undefined && sent !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  }
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${server.url}/v1${path}`, options, (response) => {
      readText(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject)
    })
    request.on('error', reject).end(sent)
  })
}

/** Counts answers by their status, as "2 of 201, 3 of 503". */
export function countStatuses(answers: readonly { readonly status: number }[]): string {
  const counts = Map.groupBy(answers, ({ status }) => status)
  return [...counts].map(([status, all]) => `${all.length} of ${status}`).join(', ')
}

/** Returns a violation if an answer is not one of `statuses`, or if a refusal has no code or another one. */
export function check(
  what: string,
  { status, text }: HttpAnswer,
  statuses: readonly number[],
  expectedCode?: string,
): readonly string[] {
  if (!statuses.includes(status)) return [`${what}: status ${status}: ${text.slice(0, 200)}`]
  if (status < 400) return []
  const code = /"code":"([a-z_]+)"/.exec(text)?.[1]
  if (expectedCode !== undefined && code !== expectedCode) return [`${what}: refused with ${code}, not ${expectedCode}`]
  return code === undefined ? [`${what}: status ${status} without a code: ${text.slice(0, 200)}`] : []
}
