import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Fault, fault } from '@holdfast/protocol'
import { answerHeaders } from './app.ts'

type Refusal = { readonly status: number; readonly fault: Fault }

/**
 * Answers requests that Node refuses before any route sees them, with the error that every other refusal has. Node
 * itself would send an empty answer.
 */
export function answerBrokenRequests(server: Server): void {
  const requests = new WeakMap<Duplex, { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }>()
  server.prependListener('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    requests.set(incoming.socket, { incoming, outgoing })
  })
  const answerBroken = (error: NodeJS.ErrnoException, socket: Duplex) => {
    const { incoming, outgoing } = requests.get(socket) ?? {}
    if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
    else if (!incoming || !outgoing) refuseOn(socket, describeError(error))
    else if (outgoing.writableFinished)
      // A request whose body breaks after its answer gets no second one.
      incoming.complete ? refuseOn(socket, describeError(error)) : socket.end(() => socket.destroy())
    else if (outgoing.headersSent) socket.destroy()
    // The error is in the bytes after a whole request. Its client must learn what came of it.
    else if (incoming.complete) outgoing.once('close', () => socket.end(() => socket.destroy()))
    else refuseOn(socket, describeError(error))
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT') return answerBroken(error, socket)
    // After the sockets were read: the request may have come while the event loop was blocked.
    const before = requests.get(socket)
    setImmediate(() => {
      if (requests.get(socket) === before) answerBroken(error, socket)
    })
  })
  server.on('connect', (_, socket) => refuseOn(socket, { status: 405, fault: notAProxy }))
  server.on('checkExpectation', (_, outgoing) => {
    const { status, fault, headers } = encode({ status: 417, fault: unknownExpectation })
    outgoing.writeHead(status, headers).end(fault)
  })
}

const notAProxy = fault('bad_request', 'This server is not a proxy. Use GET, POST or DELETE.')
const unknownExpectation = fault('bad_request', 'The header Expect may only be 100-continue.')

function describeError({ code }: NodeJS.ErrnoException): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, fault: fault('too_large', 'The headers of the request are too long.') }
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return { status: 413, fault: fault('too_large', 'The chunk extensions of the request are too long.') }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, fault: fault('bad_request', 'The request took too long to arrive. Send it again.') }
    default:
      return { status: 400, fault: fault('bad_request', 'This is not a valid HTTP/1.1 request.') }
  }
}

function encode({ status, fault }: Refusal) {
  const requestId = randomUUID()
  const text = JSON.stringify({ error: { ...fault, requestId } })
  const headers = {
    ...Object.fromEntries(answerHeaders),
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    'x-request-id': requestId,
    connection: 'close',
  }
  return { status, headers, fault: text }
}

function refuseOn(socket: Duplex, refusal: Refusal): void {
  const { status, headers, fault } = encode(refusal)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.on('error', () => socket.destroy()) // the client may have left
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${fault}`, () => socket.destroy())
}
