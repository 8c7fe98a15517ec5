import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type ReceivedRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
}

export type LocalServer = AsyncDisposable & {
  readonly url: string
  readonly port: number
  readonly asked: readonly ReceivedRequest[]
}

/** Starts a local server whose answers the test writes. */
export async function startLocalServer(
  answer: (asked: ReceivedRequest, reply: ServerResponse) => void,
): Promise<LocalServer> {
  const asked: ReceivedRequest[] = []
  const server = createServer(async (request, reply) => {
    const body = await text(request)
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: body === '' ? null : JSON.parse(body) }
    asked.push(one)
    answer(one, reply)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const replyJson = (reply: ServerResponse, body: unknown, status = 200): void => {
  reply.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
