import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from 'node:net'
import type { ModelPart, ModelRequest, Provider } from '@holdfast/core/ports'
import { aRequest } from '@holdfast/testkit'
import type { FailedEnd } from '../../failure/failure.ts'

export type Answering = AsyncDisposable & { readonly url: string }
/** With the bodies of its requests. */
type Hearing = Answering & { readonly bodies: readonly string[] }

async function listening(server: Server, cut: () => void): Promise<Answering> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      cut()
      await closed
    },
  }
}

/** Starts an HTTP server that records the bodies of its requests. */
export async function startHttpServer(listener: RequestListener): Promise<Hearing> {
  const bodies: string[] = []
  const server = createServer(async (request, response) => {
    bodies.push(await textOf(request))
    listener(request, response)
  })
  return { ...(await listening(server, () => server.closeAllConnections())), bodies }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** Starts a server with one fixed answer. */
export const startFixedServer = (status: number, body: string, headers: { readonly [name: string]: string } = {}) =>
  startHttpServer((_request, response) => void response.writeHead(status, { ...headers }).end(body))

/** Starts a plain TCP server. */
export function startSocketServer(onSocket: (socket: Socket) => void): Promise<Answering> {
  const sockets = new Set<Socket>()
  const server = createSocketServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()) // the caller may disconnect at any time
    onSocket(socket)
  })
  return listening(server, () => {
    for (const socket of sockets) socket.destroy()
  })
}

/** Returns all parts before the end, and the end, which must be a failure. */
export async function collectFailure(
  provider: Provider,
  request: ModelRequest = aRequest(),
): Promise<{ readonly parts: readonly ModelPart[]; readonly end: FailedEnd }> {
  const parts: ModelPart[] = []
  const { signal } = new AbortController()
  for await (const part of provider.stream(request, { signal })) parts.push(part)
  const last = parts.pop()
  if (last?.type !== 'end' || last.end.type !== 'failed') throw new Error('it did not fail')
  return { parts, end: last.end }
}
