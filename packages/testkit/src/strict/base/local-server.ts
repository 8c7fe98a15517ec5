import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>

type Served = { readonly url: string; readonly close: () => Promise<void> }

/** Serves on a free local port. `close` ends open connections. */
export async function serveLocally(handle: Handle): Promise<Served> {
  const server = createServer((request, response) => {
    // Clients disconnect in the middle on purpose.
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a TCP port
  return {
    url: `http://127.0.0.1:${port}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
