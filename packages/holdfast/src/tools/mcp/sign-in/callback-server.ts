import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'

/** Waits on the loopback address for the browser to come back from a sign-in. */
export type CallbackServer = {
  readonly redirectUrl: string
  /** Resolves with the URL to which the browser came back. Other visits are answered and ignored. */
  readonly wait: (isExpected: (callback: URL) => boolean, signal: AbortSignal) => Promise<URL | null>
  readonly close: () => Promise<void>
}

/** Opens the server on a free port, or on `port`. Refused: `mcp_failed`. */
export async function openCallbackServer(port = 0): Promise<Result<CallbackServer>> {
  let isExpected: (callback: URL) => boolean = () => false
  const came = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', redirectUrl)
    const isRight = request.method === 'GET' && url?.pathname === '/callback' && isExpected(url)
    response.writeHead(isRight ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'close',
      'content-security-policy': "default-src 'none'",
    })
    response.end(isRight ? 'Holdfast got the answer. You can close this window.\n' : 'There is nothing here.\n')
    if (isRight && url) came.resolve(url)
  })
  const address = await listen(server, port)
  if (!address.ok) return address
  const redirectUrl = `http://127.0.0.1:${address.value}/callback`
  return ok({
    redirectUrl,
    async wait(expected, signal) {
      isExpected = expected
      const left = Promise.withResolvers<null>()
      const leave = () => left.resolve(null)
      if (signal.aborted) leave()
      signal.addEventListener('abort', leave, { once: true })
      return Promise.race([came.promise, left.promise])
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

async function listen(server: Server, port: number): Promise<Result<number>> {
  try {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  } catch (error) {
    return refuse(fault('mcp_failed', `The port ${port} cannot be used: ${String(error)}`, { port }))
  }
  const address = server.address()
  return ok(typeof address === 'object' && address !== null ? address.port : port)
}
