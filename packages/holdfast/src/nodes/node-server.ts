import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { NodeApi } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { encodeFrame, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'

type Answer = (body: unknown, response: ServerResponse) => Promise<void>

/**
 * Serves the sessions of this node to other nodes of the same user. The system is the guard: only this user can open the
 * socket, who can also write to the store. Returns what to do with each connection.
 */
export function serveNode(api: NodeApi, onProblem: OnProblem): (socket: Socket) => void {
  const routes: Readonly<Record<string, Answer>> = {
    '/call': async (body, response) => send(response, await api.call(body)),
    '/follow': async (body, response) => {
      const leaving = untilClosed(response)
      const frames = api.follow(body, leaving)
      if (!frames.ok) return send(response, frames)
      await stream(response, frames.value)
    },
    '/news': (_, response) => stream(response, api.news(untilClosed(response))),
    '/sit': (body, response) => sit(api, body, response),
  }
  const server = createServer({ keepAliveTimeout: 1 }, (request, response) => {
    answer(routes, request, response).catch((cause) => {
      onProblem({ where: `${request.url} of another process`, cause })
      response.destroy()
    })
  })
  server.on('clientError', (_, socket) => socket.destroy()) // a check whether we are alive sends nothing
  return (socket) => {
    socket.unref() // a client of another process does not keep this one alive
    server.emit('connection', socket)
  }
}

async function answer(
  routes: Readonly<Record<string, Answer>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const route = routes[request.url ?? '']
  if (request.method !== 'POST' || !route) return send(response, refuse(fault('not_found', 'No such route.')), 404)
  const body = await readBody(request)
  return body.ok ? route(body.value, response) : send(response, body, 400)
}

async function readBody(request: IncomingMessage): Promise<Result<unknown>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > limits.requestBodiesBytesMax) return refuse(fault('too_large', 'The request is too large to forward.'))
    chunks.push(chunk)
  }
  try {
    return ok(JSON.parse(Buffer.concat(chunks).toString('utf8')))
  } catch {
    return refuse(fault('bad_request', 'The request body is not valid JSON.'))
  }
}

function send(response: ServerResponse, answer: Result<unknown>, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

/** Returns a signal that aborts when the other process has left. */
function untilClosed(response: ServerResponse): AbortSignal {
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  return leaving.signal
}

/** Sends frames as server-sent events, each when the socket took the one before. */
async function stream(
  response: ServerResponse,
  frames: AsyncIterable<Parameters<typeof encodeFrame>[0]>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  for await (const frame of frames) {
    if (response.destroyed) return
    for (const piece of encodeFrame(frame)) {
      if (response.write(piece)) continue
      await new Promise<void>((resolve) => response.once('drain', resolve).once('close', resolve))
    }
  }
  response.end()
}

/** Attaches a client as long as its connection is open. */
async function sit(api: NodeApi, body: unknown, response: ServerResponse): Promise<void> {
  const leaving = untilClosed(response)
  const seat = await api.sit(body)
  if (!seat.ok) return send(response, seat)
  const { client, role, leave } = seat.value
  if (leaving.aborted) return leave()
  leaving.addEventListener('abort', leave)
  response.writeHead(200, { 'content-type': 'application/jsonl' }).write(`${JSON.stringify(ok({ client, role }))}\n`)
}
