import { createServer, type RequestListener, type Server } from 'node:http'
import type { Clock, OnProblem } from '@holdfast/core/ports'
import { fault, limits, ok, type Result, refuse, type Sessions } from '@holdfast/protocol'
import { getRequestListener } from '@hono/node-server'
import type { Logger } from '../observe/logging/logger.ts'
import { wallClock } from '../system/wall-clock.ts'
import { createApp } from './app.ts'
import { createLoginCodes } from './auth/login-codes.ts'
import { createLoginCookie } from './auth/login-cookie.ts'
import { createOwnAddress, isLoopback, type OwnAddress, urlHost } from './auth/own-address.ts'
import type { AccessToken } from './auth/token.ts'
import { createTries } from './auth/tries.ts'
import { type Connections, trackConnections } from './connections.ts'
import { describeApi } from './describe-api.ts'
import { checkAtGate } from './front-gate.ts'
import { answerHeaders } from './http/answer-headers.ts'
import { createAttachments } from './http/attachments.ts'
import { errorAnswer } from './http/error-answer.ts'
import { watchRequest } from './http/request-log.ts'
import { type Archive, noArchive } from './http/transfer-api.ts'
import { routes } from './routes/routes.ts'

export type ServerOptions = {
  readonly sessions: Sessions
  /** What whole sessions and the whole store are given out and taken in by; without it those routes refuse. */
  readonly archive?: Archive | undefined
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  readonly tokens: readonly AccessToken[]
  /** Where Vite put the page; null serves none. */
  readonly pageDir: string | null
  readonly version: string
  readonly now: () => number
  /** What calls back after a while; the machine's own clock by default. */
  readonly after?: Clock['after']
  /** Hears of what nobody foresaw. A client is told no more of it than an id, which stands in `where` too. */
  readonly onProblem: OnProblem
  /** Where each request is logged; nowhere when absent. */
  readonly logger?: Logger | undefined
  /** Where a proxy makes the server known, e.g. `https://holdfast.example.com`. */
  readonly publicOrigins?: readonly string[]
  /** Kept across restarts, it keeps the page logged in. */
  readonly cookieKey?: Uint8Array
  readonly heartbeatMs?: number
  /** How long a client may take to send its headers, and its whole request. */
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  /** How long `close` lets what is under way go on. */
  readonly closeGraceMs?: number
}

export interface HoldfastServer {
  readonly url: string
  readonly port: number
  /** A link that logs a browser in, once, within ten minutes. */
  loginLink(): string
  /** Ends streams with a word of when to come back, lets what is under way finish, and takes two seconds at most. */
  close(): Promise<void>
}

/** The server, listening. Refused where anyone on the network could command it without a token. */
export async function openServer(options: ServerOptions): Promise<Result<HoldfastServer>> {
  const { host, tokens, now, after = wallClock.after, heartbeatMs = limits.heartbeatMs } = options
  if (!isLoopback(host) && tokens.length === 0) {
    const message = `Others can reach ${host}, and no token is configured. Create one, or listen on 127.0.0.1.`
    return refuse(fault('unauthorized', message, { host }))
  }

  const headersTimeout = options.headersTimeoutMs ?? 10_000
  const requestTimeout = options.requestTimeoutMs ?? 60_000
  const server = createServer({
    headersTimeout,
    requestTimeout,
    connectionsCheckingInterval: Math.min(headersTimeout, 1000),
    keepAliveTimeout: 5000,
  })
  const connections = trackConnections(server)
  const listening = await listen(server, options)
  if (!listening.ok) return listening
  const port = listening.value

  const closing = new AbortController()
  const address = createOwnAddress({ host, port, publicOrigins: options.publicOrigins ?? [] })
  const codes = createLoginCodes({ now })
  const cookie = createLoginCookie({ now, key: options.cookieKey, port })
  const app = createApp(routes, {
    sessions: options.sessions,
    archive: options.archive ?? noArchive,
    attachments: createAttachments({ after, closing: closing.signal, onProblem: options.onProblem }),
    version: options.version,
    now,
    describeApi: () => describeApi(routes, options.version),
    pageDir: options.pageDir,
    tokens,
    address,
    codes,
    cookie,
    tries: createTries({ now }),
    heartbeatMs,
    closing: closing.signal,
    onProblem: options.onProblem,
  })
  // The globals are the program's own: a library that embeds us must not find its Response replaced.
  const gated = behindGate(address, getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  server.on('request', (incoming, outgoing) => {
    watchRequest(incoming, outgoing, options.logger)
    gated(incoming, outgoing)
  })

  const shownHost = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : urlHost(host)
  const url = `http://${shownHost}:${port}`
  let closed: Promise<void> | null = null
  return ok({
    url,
    port,
    loginLink: () => `${url}/login?code=${codes.create()}`,
    close() {
      closing.abort()
      closed ??= closeWithin(options.closeGraceMs ?? 1500, server, connections)
      return closed
    },
  })
}

function behindGate(address: OwnAddress, listener: RequestListener): RequestListener {
  return (incoming, outgoing) => {
    const refusal = checkAtGate(incoming, address)
    if (!refusal) return listener(incoming, outgoing)
    const { status } = errorAnswer(refusal)
    const headers = { ...answerHeaders, 'content-type': 'application/json', 'cache-control': 'no-store' }
    outgoing.writeHead(status, { ...headers, connection: 'close' }).end(JSON.stringify({ error: refusal }))
  }
}

function listen(server: Server, { host, port }: ServerOptions): Promise<Result<number>> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is taken' : `the system says ${error.code ?? error.message}`
      resolve(refuse(fault('unreachable', `Cannot listen on ${host}:${port}: ${why}.`, { host, port })))
    })
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port }, () => {
      const bound = server.address()
      resolve(ok(typeof bound === 'object' && bound ? bound.port : port))
    })
  })
}

function closeWithin(graceMs: number, server: Server, connections: Connections): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearTimeout(deadline)
      resolve()
    })
    connections.closeIdle()
  })
}
