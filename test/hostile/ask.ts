import type { ServerProcess } from '../e2e/server-process.ts'

type Asked = {
  readonly method?: string
  readonly body?: unknown
  readonly bytes?: Uint8Array<ArrayBuffer>
  readonly headers?: { readonly [name: string]: string }
}

export type HttpAnswer = { readonly status: number; readonly text: string }

/** Sends one request with the server's token, as a client that is not ours would. */
export async function ask(
  server: ServerProcess,
  path: string,
  { method, body, bytes, headers = {} }: Asked = {},
): Promise<HttpAnswer> {
  const sent = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(`${server.url}/v1${path}`, {
    method: method ?? (sent === undefined ? 'GET' : 'POST'),
    headers: {
      authorization: `Bearer ${server.token}`,
      ...(bytes === undefined && sent !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
  })
  return { status: response.status, text: await response.text() }
}

/** Returns a violation if an answer is not one of `statuses`, or if a refusal has no code. */
export function check(what: string, { status, text }: HttpAnswer, statuses: readonly number[]): readonly string[] {
  if (!statuses.includes(status)) return [`${what}: status ${status}: ${text.slice(0, 200)}`]
  if (status < 400) return []
  const code = /"code":"([a-z_]+)"/.exec(text)?.[1]
  return code === undefined ? [`${what}: status ${status} without a code: ${text.slice(0, 200)}`] : []
}
