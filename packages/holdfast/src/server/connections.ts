import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** The sockets of a server, by whether a request is under way on them. */
export interface Connections {
  /** Hangs up on every socket that has nothing under way, now and as soon as it has nothing any more. */
  closeIdle(): void
}

/** Node's own `closeIdleConnections` leaves those alone that have connected and said nothing yet, as browsers do ahead of need. */
export function trackConnections(server: Server): Connections {
  const requests = new Map<Socket, number>()
  let isClosing = false
  const closeIfIdle = (socket: Socket) => {
    if (isClosing && requests.get(socket) === 0) socket.destroySoon()
  }

  server.on('connection', (socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
    closeIfIdle(socket)
  })
  server.on('request', ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      if (!requests.has(socket)) return
      requests.set(socket, (requests.get(socket) ?? 1) - 1)
      closeIfIdle(socket)
    })
  })

  return {
    closeIdle() {
      isClosing = true
      for (const socket of requests.keys()) closeIfIdle(socket)
    },
  }
}
