import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { NodeApi } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { encodeFrame, type Fault, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'

type Answer = (body: unknown, response: ServerResponse) => Promise<void>

/** A request as it came: its route and its body, which is JSON. */
export type NodeRequest = { readonly path: string; readonly body: string }

/** Checks a request before it is answered, and may set headers of the answer. Returns a fault to refuse it. */
export type AdmitRequest = (
  request: NodeRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
) => Promise<Fault | null>

/** A node asked about a session that it does not own: "Misdirected Request". The sender looks the owner up again. */
const notOwner = 421

/**
 * Serves the sessions of this node to other nodes of the same user. The system is the guard: only this user can open the
 * socket, who can also write to the store. Returns what to do with each connection.
 */
export function serveNode(api: NodeApi, onProblem: OnProblem): (socket: Socket) => void {
  const server = createServer({ keepAliveTimeout: 1 }, createNodeHandler(api, onProblem))
  server.on('clientError', (_, socket) => socket.destroy()) // a check whether we are alive sends nothing
  return (socket) => {
    socket.unref() // a client of another process does not keep this one alive
    server.emit('connection', socket)
  }
}

/** Answers the requests of other nodes that `admit` lets in. */
export function createNodeHandler(api: NodeApi, onProblem: OnProblem, admit?: AdmitRequest) {
  const bodies = createBodyReader(limits.requestBodiesBytesMax)
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
  return (incoming: IncomingMessage, response: ServerResponse): void => {
    answer(routes, bodies, admit, incoming, response).catch((cause) => {
      // A sender that leaves in the middle of its request is no problem of this node.
      if (!incoming.destroyed || incoming.complete) onProblem({ where: `${incoming.url} of another process`, cause })
      response.destroy()
    })
  }
}

async function answer(
  routes: Readonly<Record<string, Answer>>,
  bodies: BodyReader,
  admit: AdmitRequest | undefined,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { url: path = '' } = incoming
  const route = routes[path]
  if (incoming.method !== 'POST' || !route) return send(response, refuse(fault('not_found', 'No such route.')), 404)
  const body = await bodies(incoming)
  if (!body.ok) {
    response.once('close', () => incoming.destroy()) // the rest is not read
    return send(response, body, body.fault.code === 'server_busy' ? 503 : 400)
  }
  const refusal = await admit?.({ path, body: body.value }, incoming, response)
  if (refusal) return send(response, refuse(refusal), 401)
  const parsed = parseBody(body.value)
  return parsed.ok ? route(parsed.value, response) : send(response, parsed, 400)
}

type BodyReader = ReturnType<typeof createBodyReader>

/**
 * Returns a function that reads the body of a request. The proof of a node covers its body, so anyone can send one: all that
 * are being read together have at most `bytesMax`. Refused: too_large, server_busy.
 */
function createBodyReader(bytesMax: number) {
  let bytesTogether = 0
  return async (request: IncomingMessage): Promise<Result<string>> => {
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        bytes += chunk.length
        bytesTogether += chunk.length
        if (bytes > bytesMax) return refuse(fault('too_large', 'The request is too large to forward.'))
        if (bytesTogether > bytesMax) return refuse(tooMuchTogether)
        chunks.push(chunk)
      }
      return ok(Buffer.concat(chunks).toString('utf8'))
    } finally {
      bytesTogether -= bytes
    }
  }
}

const tooMuchTogether = fault(
  'server_busy',
  'This node reads too many requests of other nodes. Try again in a second.',
  {
    retryAfterSeconds: 1,
  },
)

function parseBody(text: string): Result<unknown> {
  try {
    return ok(JSON.parse(text))
  } catch {
    return refuse(fault('bad_request', 'The request body is not valid JSON.'))
  }
}

function send(response: ServerResponse, answer: Result<unknown>, status = statusOf(answer)): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

const statusOf = (answer: Result<unknown>): number =>
  !answer.ok && answer.fault.code === 'session_locked' ? notOwner : 200

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
