import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PostgresServer } from './postgres-server.ts'

/** Stands between a client and the server, and cuts connections on demand. */
export interface SocketProxy {
  /** The URL of the database through this proxy. */
  url(schema: string): string
  /** Passes on the next request that contains a text, waits for the reply, and cuts the connection instead of passing it. */
  loseReplyTo(text: string): Promise<void>
  /**
   * Cuts the connection of the n-th request from now on: before the server gets it, or instead of passing its reply on. Requests of
   * all connections count. Returns whether there was such a request.
   */
  cutAt(request: number, when: 'before' | 'after'): () => boolean
  /** Connects to another server from now on, and cuts all connections. */
  redirect(to: PostgresServer): void
  /** Cuts all connections. New ones are accepted. */
  cut(): void
  /** Cuts all connections, and each of the next ones as soon as it is made: a server that is away for so many attempts. */
  refuseNext(connections: number): void
  /** Passes nothing on until `flow`, as a network that loses every packet. */
  stall(): void
  /** Passes everything on, each piece this much later. */
  flow(delayMs?: number): void
  close(): Promise<void>
}

const socketName = '.s.PGSQL.5432'

/** Opens a proxy with a socket of its own. */
export async function openSocketProxy(server: PostgresServer): Promise<SocketProxy> {
  const directory = await mkdtemp(join(tmpdir(), 'hf-pgp-'))
  const sockets = new Set<Socket>()
  let target = server
  let delayMs = 0
  let isStalled = false
  const held: (() => void)[] = []
  /** What is on its way to a socket. Later bytes never overtake it, also when the delay ends. */
  const onTheWay = new WeakMap<Socket, (() => void)[]>()
  const pass = (to: Socket, bytes: Buffer) => {
    if (isStalled) return void held.push(() => to.write(bytes))
    const waiting = onTheWay.get(to) ?? []
    onTheWay.set(to, waiting)
    waiting.push(() => to.write(bytes))
    if (delayMs > 0) return void setTimeout(() => waiting.shift()?.(), delayMs)
    for (const send of waiting.splice(0)) send()
  }
  let trap: { readonly text: string; readonly onCut: () => void } | null = null
  let countdown: { left: number; readonly when: 'before' | 'after' } | null = null

  let refused = 0

  const listener = createServer((client) => {
    if (refused > 0) {
      refused -= 1
      return void client.destroy()
    }
    const upstream = connect(join(target.directory, socketName))
    let isCutting: (() => void) | null = null
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined) // the other side closes too
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (bytes) => {
      if (trap !== null && bytes.includes(trap.text)) {
        isCutting = trap.onCut
        trap = null
      }
      if (countdown !== null && --countdown.left === 0) {
        if (countdown.when === 'before') return void client.destroy()
        isCutting = () => undefined
      }
      pass(upstream, bytes)
    })
    upstream.on('data', (bytes) => {
      if (isCutting === null) return pass(client, bytes)
      client.destroy()
      isCutting()
    })
  })
  await new Promise<void>((resolve) => listener.listen(join(directory, socketName), resolve))

  const cut = () => {
    held.length = 0
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: (schema) => server.url(schema).replace(encodeURIComponent(server.directory), encodeURIComponent(directory)),
    loseReplyTo(text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      trap = { text, onCut: resolve }
      return promise
    },
    cutAt(request, when) {
      const own = { left: request, when }
      countdown = own
      return () => own.left <= 0
    },
    redirect(to) {
      target = to
      cut()
    },
    cut,
    refuseNext(connections) {
      refused = connections
      cut()
    },
    stall() {
      isStalled = true
    },
    flow(given = 0) {
      delayMs = given
      isStalled = false
      for (const send of held.splice(0)) send()
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
      await rm(directory, { recursive: true, force: true })
    },
  }
}
