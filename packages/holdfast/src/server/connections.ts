import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { ServerDeps } from './define/server-deps.ts'

const dropsEveryMs = 60_000

/** Reports connections that were closed because too many are open; once a minute at most. */
export function reportDrops(server: Server, now: () => number, onProblem: ServerDeps['onProblem']): void {
  let quietUntil = 0
  server.on('drop', () => {
    if (now() < quietUntil) return
    quietUntil = now() + dropsEveryMs
    onProblem({ where: 'the server', cause: new Error(`More than ${server.maxConnections} connections are open.`) })
  })
}

const stallChecks = 4
/** How late a check may be on a busy machine. */
const lateMsMax = 1000

/**
 * Cuts connections whose client took no byte for `stallMs` although some wait, and those that were kept long enough for a
 * next request. Checks several times in between: Node takes the bytes that the system buffered right after a write for
 * progress, and reports a stall one timeout later. A client that has not sent its headers yet is not idle: Node refuses
 * it after the time for headers.
 */
export function cutStalled(
  server: Server,
  stallMs: number,
  { isBusy, closeKept }: Pick<Connections, 'isBusy' | 'closeKept'>,
): void {
  const checkMs = Math.ceil(stallMs / stallChecks)
  const stalls = new WeakMap<Socket, { readonly bytes: number; readonly checks: number; readonly atMs: number }>()
  server.setTimeout(checkMs)
  server.on('timeout', (socket) => {
    if (!isBusy(socket)) return closeKept(socket)
    // A request that is being worked on keeps its connection: nothing waits for its client yet.
    if (socket.writableLength === 0) return
    const [last, atMs, bytes] = [stalls.get(socket), performance.now(), socket.bytesWritten]
    // A longer gap means that Node saw progress in between and began anew, or that this check is late.
    const isStill = last !== undefined && last.bytes === bytes && atMs - last.atMs < 1.5 * checkMs + lateMsMax
    const checks = isStill ? last.checks + 1 : 1
    if (checks >= stallChecks) return socket.destroy()
    stalls.set(socket, { bytes, checks, atMs })
    socket.setTimeout(checkMs)
  })
}

type Connections = ReturnType<typeof trackConnections>

/**
 * Tracks the open connections. `closeIdle` closes every idle one, now and as soon as one becomes idle. Node's own
 * `closeIdleConnections` skips connections without a request yet, which browsers open in advance.
 */
export function trackConnections(server: Server) {
  const requests = new Map<Socket, number>()
  const incoming = new Set<IncomingMessage>()
  /** How many bytes of a connection were read when its last answer was sent. */
  const readBefore = new WeakMap<Socket, number>()
  let isClosing = false
  const closeIfIdle = (socket: Socket) => {
    if (requests.get(socket) === 0) socket.destroySoon()
  }

  server.on('connection', (socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
    if (isClosing) closeIfIdle(socket)
  })
  server.on('request', (request, response) => {
    const { socket } = request
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    incoming.add(request)
    response.once('close', () => {
      incoming.delete(request)
      if (!requests.has(socket)) return
      readBefore.set(socket, socket.bytesRead)
      requests.set(socket, (requests.get(socket) ?? 1) - 1)
      if (isClosing) closeIfIdle(socket)
    })
  })

  const isBusy = (socket: Socket) => (requests.get(socket) ?? 0) > 0
  return {
    all: () => requests.keys(),
    isBusy,
    /** Closes a connection that is kept for a next request, unless some of it came. */
    closeKept(socket: Socket): void {
      // After the sockets were read: the request may have come while the event loop was blocked, and would be lost.
      setImmediate(() => {
        const read = readBefore.get(socket)
        if (isBusy(socket) || read === undefined) return
        if (read === socket.bytesRead) return void socket.destroy()
        // Bytes that begin no request, such as a line break, must not keep it: it is closed the next time.
        readBefore.set(socket, socket.bytesRead)
        socket.setTimeout(socket.timeout ?? 0)
      })
    },
    closeIdle(): void {
      isClosing = true
      for (const socket of requests.keys()) closeIfIdle(socket)
    },
    /** Cuts requests that did not arrive whole: nothing was done for them. */
    cutPartial(): void {
      for (const { socket, complete } of incoming) if (!complete) socket.destroy()
    },
  }
}

/** How long a server that closes waits for the rest of a request. A client that sends half of one must not delay the close. */
const partialMs = 250

/** Closes a server. Requests that arrived whole have `graceMs` to be answered. */
export async function closeWithin(
  graceMs: number,
  server: Server,
  { closeIdle, cutPartial }: Pick<Connections, 'closeIdle' | 'cutPartial'>,
): Promise<void> {
  const timers = [setTimeout(cutPartial, partialMs), setTimeout(() => server.closeAllConnections(), graceMs)]
  const closed = once(server, 'close')
  server.close()
  closeIdle()
  await closed
  for (const timer of timers) clearTimeout(timer)
}
