import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import type { Clock } from '@holdfast/core/ports'
import {
  fault,
  faultStatus,
  type HookLister,
  limits,
  type OfferTrust,
  ok,
  type PermissionRules,
  type Result,
  refuse,
  type ToolLister,
} from '@holdfast/protocol'
import { getRequestListener } from '@hono/node-server'
import type { Logger } from '../observe/logging/logger.ts'
import { wallClock } from '../system/wall-clock.ts'
import type { LiveTokens } from '../tokens/live-tokens.ts'
import { hasExpired } from '../tokens/tokens.ts'
import { answerHeaders, createApp, logRequest } from './app.ts'
import { createFailedAttempts } from './auth/access.ts'
import { createLoginCodes, createLoginCookie } from './auth/login.ts'
import { createProxies } from './auth/proxies.ts'
import { createServerAddress, isEveryAddress, isLoopback, networkAddresses, urlHost } from './auth/server-address.ts'
import { answerBrokenRequests } from './broken-requests.ts'
import { createAttachments } from './http/attachments.ts'
import { createOutbox } from './http/outbox.ts'
import { createReadiness, type Readiness } from './http/readiness.ts'
import { createByteBudget } from './http/request-body.ts'
import type { PathCompleter, ServerDeps } from './http/server-deps.ts'
import { createSlices } from './http/slices.ts'
import { createStreams } from './http/streams.ts'
import { noTransfer, type Transfer } from './http/transfer.ts'
import { describeApi } from './openapi/describe-api.ts'
import { routes } from './routes/routes.ts'

export type ServerOptions = Pick<ServerDeps, 'sessions' | 'tokens' | 'pageDir' | 'version' | 'now' | 'onProblem'> & {
  /** The tokens of the store. Without it, only `tokens` let clients in, and the routes for tokens refuse. */
  readonly storedTokens?: LiveTokens | undefined
  /** Without it, the routes for export and import refuse. */
  readonly transfer?: Transfer
  /** The directory of uploads that are being imported; the system's directory for temporary files by default. */
  readonly spoolDir?: string
  /** Checks whether this process can run sessions; without it, it always can until it closes. */
  readonly ready?: Readiness
  /** Without it, the route for statistics refuses. */
  readonly stats?: ServerDeps['stats']
  /** Without it, the routes for permission rules refuse. */
  readonly permissions?: PermissionRules
  /** Without it, the routes for trust refuse. */
  readonly trust?: OfferTrust
  /** Without it, the routes that complete paths refuse. */
  readonly paths?: PathCompleter
  /** Without it, the route for hooks refuses. */
  readonly hooks?: HookLister
  /** Without it, the routes for tools refuse. */
  readonly tools?: ToolLister
  /** How many copies were saved when another program changed the files of the store; 0 by default. */
  readonly savedCopies?: number
  readonly host: string
  /** 0 uses any free port. */
  readonly port: number
  /** Starts a timer; the system clock by default. */
  readonly after?: Clock['after']
  /** Logs each request. */
  readonly logger?: Logger | undefined
  /** Origins under which a proxy serves us, e.g. `https://holdfast.example.com`. */
  readonly publicOrigins?: readonly string[]
  /** The addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count, such as `127.0.0.1`. */
  readonly trustedProxies?: readonly string[]
  /** A stored key keeps the page logged in across restarts. */
  readonly cookieKey?: Uint8Array
  readonly heartbeatMs?: number
  /** How long a client may take to send its headers, and its whole request. */
  readonly headersTimeoutMs?: number
  readonly requestTimeoutMs?: number
  /** How long a client may take no byte of what waits for it. */
  readonly stallMs?: number
  /** How many bytes may wait for all clients together. */
  readonly bufferBytesMax?: number
  /** How many bytes of uploads may be in memory. */
  readonly uploadsBytesMax?: number
  /** The same for JSON bodies, beyond the first bytes of each. */
  readonly bodiesBytesMax?: number
  /** How many connections may be open; more are closed at once. */
  readonly connectionsMax?: number
  /** How long `close` waits for running requests. */
  readonly closeGraceMs?: number
}

const noRules = async () => refuse(fault('not_found', 'This server has no permission rules.'))
const noPermissions: PermissionRules = { list: noRules, add: noRules, remove: noRules }
const noTrust = async () => refuse(fault('not_found', 'This server knows no workspaces.'))
const noCompletion = async () => refuse(fault('not_found', 'This server completes no paths.'))
const noPaths: PathCompleter = { inSession: noCompletion, folders: noCompletion }
const noOffers: OfferTrust = { offers: noTrust, grant: noTrust, revoke: noTrust, list: noTrust }

export interface HoldfastServer {
  readonly url: string
  readonly port: number
  /** Returns a link that logs a browser in. It works once, for ten minutes. */
  loginLink(): string
  /** Returns the same for another device on the network; null if only this machine can reach the server. */
  networkLoginLink(): string | null
  /** Ends streams with a time to reconnect, waits for running requests, and takes at most two seconds. */
  close(): Promise<void>
}

/** Opens the server. Refuses to listen on a public address without a token. */
export async function openServer(options: ServerOptions): Promise<Result<HoldfastServer>> {
  const { host, tokens, now, after = wallClock.after, onProblem } = options
  const { storedTokens = null, ready: check = async () => ok(null) } = options
  if (!isLoopback(host) && tokens.length === 0 && !(await hasToken(storedTokens, now))) {
    const message = `Other machines can reach ${host}, but there is no token. Create one with \`holdfast token create\`, or use 127.0.0.1.`
    return refuse(fault('unauthorized', message, { host }))
  }
  const proxies = createProxies(options.trustedProxies ?? [])
  if (!proxies.ok) return proxies

  const headersTimeout = options.headersTimeoutMs ?? 10_000
  const server = createServer({
    headersTimeout,
    requestTimeout: options.requestTimeoutMs ?? 60_000,
    connectionsCheckingInterval: Math.min(headersTimeout, 1000),
    keepAliveTimeout: 5000,
    requireHostHeader: false, // our own check refuses it, with the error that every refusal has
  })
  answerBrokenRequests(server)
  server.maxConnections = options.connectionsMax ?? limits.connectionsMax
  reportDrops(server, now, onProblem)
  const connections = trackConnections(server)
  cutStalled(server, options.stallMs ?? limits.viewerStallMs, connections.isBusy)
  const listening = await listen(server, options)
  if (!listening.ok) return listening
  const port = listening.value

  const closing = new AbortController()
  const watchToken: LiveTokens['watch'] = storedTokens?.watch ?? (() => unwatched)
  const address = createServerAddress(host, port, options.publicOrigins)
  const codes = createLoginCodes({ now })
  const url = `http://${isEveryAddress(host) ? '127.0.0.1' : urlHost(host)}:${port}`
  const links = createLinks(url, options, port, codes.create)
  const app = createApp(routes, {
    transfer: noTransfer,
    spoolDir: tmpdir(),
    savedCopies: 0,
    stats: async () => refuse(fault('not_found', 'This server has no statistics.')),
    permissions: noPermissions,
    trust: noOffers,
    hooks: { list: async () => refuse(fault('not_found', 'This server lists no hooks.')) },
    tools: { list: async () => refuse(fault('not_found', 'This server lists no tools.')) },
    paths: noPaths,
    heartbeatMs: limits.heartbeatMs,
    ...options,
    storedTokens,
    proxies: proxies.value,
    links,
    attachments: createAttachments({ after, watchToken, closing: closing.signal, onProblem }),
    streams: createStreams({ onProblem }),
    uploads: createByteBudget(options.uploadsBytesMax ?? limits.uploadsBytesMax),
    bodies: createByteBudget(options.bodiesBytesMax ?? limits.requestBodiesBytesMax),
    outbox: createOutbox({ connections: connections.all, bytesMax: options.bufferBytesMax }),
    ready: createReadiness({ check, closing: closing.signal, now, after, onProblem }),
    describeApi: rememberDocument(options.version),
    address,
    codes,
    cookie: createLoginCookie({ now, key: options.cookieKey, port }),
    attempts: createFailedAttempts({ now }),
    closing: closing.signal,
  })
  // Do not replace the globals: an embedding program must keep its own Response.
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const requestId = logRequest(incoming, outgoing, options.logger)
    const refusal = address.checkRequest(incoming)
    if (refusal === null) return listener(incoming, outgoing)
    const headers = { ...Object.fromEntries(answerHeaders), 'content-type': 'application/json', connection: 'close' }
    outgoing.writeHead(faultStatus[refusal.code], headers).end(JSON.stringify({ error: { ...refusal, requestId } }))
  }
  const inSlices = createSlices(requestsPerTurn)
  server.on('request', (incoming, outgoing) =>
    inSlices(() => {
      if (!incoming.socket.destroyed) answer(incoming, outgoing) // else the client left while it waited
    }),
  )

  let closed: Promise<void> | null = null
  return ok({
    url,
    port,
    loginLink: () => links.login().link,
    networkLoginLink: () => links.login().networkLink,
    close() {
      closing.abort()
      closed ??= closeWithin(options.closeGraceMs ?? 1500, server, connections.closeIdle)
      return closed
    },
  })
}

/** Returns the OpenAPI document as JSON. It is built once, when it is first asked for. */
function rememberDocument(version: string): () => Promise<string> {
  let document: Promise<string> | null = null
  return () => {
    document ??= describeApi(routes, version).then((described) => JSON.stringify(described))
    return document
  }
}

const unwatched = { ended: new AbortController().signal, release: () => undefined }

/** Returns whether a token exists that still counts. */
async function hasToken(storedTokens: LiveTokens | null, now: () => number): Promise<boolean> {
  const found = await storedTokens?.list()
  return found?.ok === true && found.value.some((token) => !hasExpired(token, now()))
}

/** Creates the links for people: under the public address, if there is one, else under one that others can reach. */
function createLinks(
  url: string,
  { host, publicOrigins = [] }: Pick<ServerOptions, 'host' | 'publicOrigins'>,
  port: number,
  createCode: () => string,
): ServerDeps['links'] {
  /** The address for another device; null if there is none. */
  const networkUrl = (): string | null => {
    if (publicOrigins[0] !== undefined) return publicOrigins[0]
    if (!isEveryAddress(host)) return isLoopback(host) ? null : url
    const [address] = networkAddresses(host)
    return address === undefined ? null : `http://${address}:${port}`
  }
  return {
    login() {
      const network = networkUrl()
      const networkLink = network === null ? null : `${network}/login?code=${createCode()}`
      return { link: `${url}/login?code=${createCode()}`, networkLink }
    },
    share: (secret) => `${networkUrl() ?? url}/shared#${secret}`,
  }
}

const dropsEveryMs = 60_000

/** Reports connections that were closed because too many are open; once a minute at most. */
function reportDrops(server: Server, now: () => number, onProblem: ServerDeps['onProblem']): void {
  let quietUntil = 0
  server.on('drop', () => {
    if (now() < quietUntil) return
    quietUntil = now() + dropsEveryMs
    onProblem({ where: 'the server', cause: new Error(`More than ${server.maxConnections} connections are open.`) })
  })
}

/** Requests that arrive together are begun in slices: each takes a part of a millisecond. */
const requestsPerTurn = 50
const stallChecks = 4

/**
 * Cuts connections whose client took no byte for `stallMs` although some wait, and idle ones. Checks several times in
 * between: Node takes the bytes that the system buffered right after a write for progress, and reports a stall one
 * timeout later.
 */
function cutStalled(server: Server, stallMs: number, isBusy: (socket: Socket) => boolean): void {
  const checkMs = Math.ceil(stallMs / stallChecks)
  const stalls = new WeakMap<Socket, { readonly bytes: number; readonly checks: number; readonly atMs: number }>()
  server.setTimeout(checkMs)
  server.on('timeout', (socket) => {
    if (!isBusy(socket)) return socket.destroy()
    // A request that is being worked on keeps its connection: nothing waits for its client yet.
    if (socket.writableLength === 0) return
    const [last, atMs, bytes] = [stalls.get(socket), performance.now(), socket.bytesWritten]
    // A longer gap means that Node saw progress in between.
    const isStill = last !== undefined && last.bytes === bytes && atMs - last.atMs < 1.5 * checkMs
    const checks = isStill ? last.checks + 1 : 1
    if (checks >= stallChecks) return socket.destroy()
    stalls.set(socket, { bytes, checks, atMs })
    socket.setTimeout(checkMs)
  })
}

/**
 * Tracks the open connections. `closeIdle` closes every idle one, now and as soon as one becomes idle. Node's own
 * `closeIdleConnections` skips connections without a request yet, which browsers open in advance.
 */
function trackConnections(server: Server) {
  const requests = new Map<Socket, number>()
  let isClosing = false
  const closeIfIdle = (socket: Socket) => {
    if (requests.get(socket) === 0) socket.destroySoon()
  }

  server.on('connection', (socket) => {
    requests.set(socket, 0)
    socket.once('close', () => requests.delete(socket))
    if (isClosing) closeIfIdle(socket)
  })
  server.on('request', ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1)
    response.once('close', () => {
      if (!requests.has(socket)) return
      requests.set(socket, (requests.get(socket) ?? 1) - 1)
      if (isClosing) closeIfIdle(socket)
    })
  })

  return {
    all: () => requests.keys(),
    isBusy: (socket: Socket) => (requests.get(socket) ?? 0) > 0,
    closeIdle(): void {
      isClosing = true
      for (const socket of requests.keys()) closeIfIdle(socket)
    },
  }
}

function listen(server: Server, { host, port }: ServerOptions): Promise<Result<number>> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const { code = error.message } = error
      const why = code === 'EADDRINUSE' ? 'the port is taken' : `the system reports ${code}`
      resolve(refuse(fault('unreachable', `Cannot listen on ${host}:${port}: ${why}.`, { host, port })))
    })
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port }, () => {
      const bound = server.address()
      resolve(ok(typeof bound === 'object' && bound ? bound.port : port))
    })
  })
}

async function closeWithin(graceMs: number, server: Server, closeIdle: () => void): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), graceMs)
  const closed = once(server, 'close')
  server.close()
  closeIdle()
  await closed
  clearTimeout(deadline)
}
