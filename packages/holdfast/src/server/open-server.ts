import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import type { Clock } from '@holdfast/core/ports'
import { fault, faultStatus, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { getRequestListener } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Logger } from '../observe/logging/logger.ts'
import type { RateLimit } from '../system/config/config.ts'
import { wallClock } from '../system/wall-clock.ts'
import type { LiveTokens } from '../tokens/live-tokens.ts'
import { hasExpired } from '../tokens/tokens.ts'
import { answerHeaders, createApp, logRequest } from './app.ts'
import { createFailedAttempts } from './auth/access.ts'
import { createLoginCodes, createLoginCookie } from './auth/login.ts'
import { createProxies } from './auth/proxies.ts'
import { createRequestLimit, usualRate } from './auth/rate-limit.ts'
import {
  createServerAddress,
  isEveryAddress,
  isLoopback,
  type ListInterfaces,
  networkAddresses,
  urlHost,
} from './auth/server-address.ts'
import { createOwnFiles } from './bodies/own-files.ts'
import { usualPace } from './bodies/paced-body.ts'
import { createByteBudget } from './bodies/request-body.ts'
import { answerBrokenRequests } from './broken-requests.ts'
import { closeWithin, cutStalled, reportDrops, trackConnections } from './connections.ts'
import type { Readiness, ServerDeps, ServerTenants } from './define/server-deps.ts'
import { absentParts, type ServerParts } from './define/server-parts.ts'
import { describeApi } from './openapi/describe-api.ts'
import { createReadiness } from './readiness.ts'
import { routes } from './routes/routes.ts'
import { createAttachments } from './streams/attachments.ts'
import { eventStreamOf } from './streams/event-stream.ts'
import { createOutbox } from './streams/outbox.ts'
import { createSlices } from './streams/slices.ts'
import { createStreams } from './streams/streams.ts'
import { cutVanishedPeers } from './vanished-peers.ts'

type GivenDeps = Pick<ServerDeps, 'sessions' | 'tokens' | 'pageDir' | 'version' | 'now' | 'onProblem'>

/** The options of a server. Without one of the parts, its routes refuse. */
export type ServerOptions = GivenDeps &
  Partial<ServerParts> & {
    /** The tokens of the store. Without it, only `tokens` let clients in, and the routes for tokens refuse. */
    readonly storedTokens?: LiveTokens | undefined
    /** Without it, no token of a tenant is let in. */
    readonly tenants?: ServerTenants | null | undefined
    /** The directory of uploads that are being imported; the system's directory for temporary files by default. */
    readonly spoolDir?: string
    /** Checks whether this process can run sessions; without it, it always can until it closes. */
    readonly ready?: Readiness
    /** How many requests each token or login may send: 20,000 at once and 1,000 a second by default; null for no limit. */
    readonly rateLimit?: RateLimit | null | undefined
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
    /** Lists the network interfaces, for a host that means all of them; those of the machine by default. */
    readonly interfaces?: ListInterfaces | undefined
    /** The addresses of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count, such as `127.0.0.1`. */
    readonly trustedProxies?: readonly string[]
    /** A stored key keeps the page logged in across restarts. */
    readonly cookieKey?: Uint8Array
    readonly heartbeatMs?: number
    /** How long a client may take to send its headers, and its whole request. */
    readonly headersTimeoutMs?: number
    readonly requestTimeoutMs?: number
    /** How long a connection is kept for a next request. */
    readonly keptMs?: number
    /** How long a client may send no byte of a body. */
    readonly bodyStallMs?: number
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

/** As long as for a client that does not read: one on a busy machine may connect long before it sends. */
const headersMs = limits.viewerStallMs

/** The largest body at the slowest pace that is allowed. A body that comes more slowly is refused much earlier. */
const longestRequestMs = headersMs + limits.bodyStallMs + (limits.blobBytesMax / limits.bodyBytesPerSecondMin) * 1000

/** Longer than proxies keep theirs (60 s is usual): a request that is sent while the server closes its connection is lost. */
const keptMs = 65_000

/** Opens the server. Refuses to listen on a public address without a token. */
export async function openServer(options: ServerOptions): Promise<Result<HoldfastServer>> {
  const { host, tokens, now, after = wallClock.after, onProblem } = options
  const { storedTokens = null, ready: check = async () => ok(null), rateLimit = usualRate } = options
  if (!isLoopback(host) && tokens.length === 0 && !(await hasToken(storedTokens, now))) {
    const message = `Other machines can reach ${host}, but there is no token. Create one with \`holdfast token create\`, or use 127.0.0.1.`
    return refuse(fault('unauthorized', message, { host }))
  }
  const proxies = createProxies(options.trustedProxies ?? [])
  if (!proxies.ok) return proxies

  const headersTimeout = options.headersTimeoutMs ?? headersMs
  const server = createServer({
    headersTimeout,
    requestTimeout: options.requestTimeoutMs ?? longestRequestMs,
    connectionsCheckingInterval: Math.min(headersTimeout, 1000),
    keepAliveTimeout: options.keptMs ?? keptMs,
    requireHostHeader: false, // our own check refuses it, with the error that every refusal has
  })
  answerBrokenRequests(server)
  server.maxConnections = options.connectionsMax ?? limits.connectionsMax
  reportDrops(server, now, onProblem)
  const connections = trackConnections(server)
  cutStalled(server, options.stallMs ?? limits.viewerStallMs, connections)
  cutVanishedPeers(server, { connections: connections.all })
  const listening = await listen(server, options)
  if (!listening.ok) return listening
  const port = listening.value

  const closing = new AbortController()
  const watchToken: LiveTokens['watch'] = storedTokens?.watch ?? (() => unwatched)
  const address = createServerAddress(host, port, options.publicOrigins, options.interfaces)
  const codes = createLoginCodes({ now })
  const url = `http://${isEveryAddress(host) ? '127.0.0.1' : urlHost(host)}:${port}`
  const links = createLinks(url, options, port, codes.create)
  const outbox = createOutbox({ connections: connections.all, bytesMax: options.bufferBytesMax })
  const app = createApp(routes, {
    ...absentParts,
    spoolDir: tmpdir(),
    savedCopies: 0,
    heartbeatMs: limits.heartbeatMs,
    ...options,
    storedTokens,
    proxies: proxies.value,
    links,
    attachments: createAttachments({ after, watchToken, closing: closing.signal, onProblem }),
    streams: createStreams({ onProblem, outbox }),
    tenants: options.tenants ?? null,
    ownFiles: createOwnFiles(options.tenants?.files ?? null),
    uploads: createByteBudget(options.uploadsBytesMax ?? limits.uploadsBytesMax),
    pace: { ...usualPace, stallMs: options.bodyStallMs ?? usualPace.stallMs },
    bodies: createByteBudget(options.bodiesBytesMax ?? limits.requestBodiesBytesMax),
    outbox,
    ready: createReadiness({ check, closing: closing.signal, now, after, onProblem }),
    describeApi: rememberDocument(options.version),
    address,
    codes,
    cookie: createLoginCookie({ now, key: options.cookieKey, port }),
    attempts: createFailedAttempts({ now }),
    requestLimit: rateLimit && createRequestLimit(rateLimit, now),
    closing: closing.signal,
  })
  // Do not replace the globals: an embedding program must keep its own Response.
  const listener = getRequestListener(
    // This server speaks HTTP/1.1 only.
    async (request, env) => sendEvents(await app.fetch(request, env), env.outgoing as ServerResponse),
    {
      overrideGlobalObjects: false,
    },
  )
  const answer = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const requestId = logRequest(incoming, outgoing, options.logger)
    const refusal = address.checkRequest(incoming)
    if (refusal === null) return listener(incoming, outgoing)
    const headers = { ...Object.fromEntries(answerHeaders), 'content-type': 'application/json', connection: 'close' }
    outgoing.writeHead(faultStatus[refusal.code], headers).end(JSON.stringify({ error: { ...refusal, requestId } }))
  }
  const slices = createSlices(requestsPerSlice)
  server.on('request', (incoming, outgoing) =>
    slices.run(() => {
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
      closed ??= closeWithin(options.closeGraceMs ?? 1500, server, connections)
      return closed
    },
  })
}

/** Writes an answer that is a stream of events, and returns any other for the adapter. */
function sendEvents(response: Response, outgoing: ServerResponse): Response {
  const stream = eventStreamOf(response)
  if (!stream) return response
  if (outgoing.destroyed) stream.leave()
  else {
    // The stream ends with its connection, so no event is framed as a chunk again for each viewer.
    outgoing.removeHeader('transfer-encoding')
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    stream.writeTo(outgoing, outgoing.socket ?? outgoing)
  }
  return RESPONSE_ALREADY_SENT
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
  { host, publicOrigins = [], interfaces }: Pick<ServerOptions, 'host' | 'publicOrigins' | 'interfaces'>,
  port: number,
  createCode: (token: string | null) => string,
): ServerDeps['links'] {
  /** The address for another device; null if there is none. */
  const networkUrl = (): string | null => {
    if (publicOrigins[0] !== undefined) return publicOrigins[0]
    if (!isEveryAddress(host)) return isLoopback(host) ? null : url
    const [address] = networkAddresses(host, interfaces)
    return address === undefined ? null : `http://${address}:${port}`
  }
  return {
    login(token = null) {
      const network = networkUrl()
      const networkLink = network === null ? null : `${network}/login?code=${createCode(token)}`
      return { link: `${url}/login?code=${createCode(token)}`, networkLink }
    },
    share: (secret) => `${networkUrl() ?? url}/shared#${secret}`,
  }
}

/** Requests that arrive together are begun in slices: each takes a part of a millisecond. */
const requestsPerSlice = 50

/**
 * Connections that the system accepts for us before we take them. With Node's 511, the queue of the system overflows when
 * a thousand clients come back at once: they have to send again, a second later. The system may have a lower limit.
 */
const waitingConnectionsMax = 4096

function listen(server: Server, { host, port }: ServerOptions): Promise<Result<number>> {
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const { code = error.message } = error
      const why = code === 'EADDRINUSE' ? 'the port is taken. Choose another with --port' : `the system reports ${code}`
      resolve(refuse(fault('unreachable', `Cannot listen on ${host}:${port}: ${why}.`, { host, port })))
    })
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port, backlog: waitingConnectionsMax }, () => {
      const bound = server.address()
      resolve(ok(typeof bound === 'object' && bound ? bound.port : port))
    })
  })
}
