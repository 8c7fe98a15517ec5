import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NodeApi } from '@holdfast/core'
import type { OnProblem } from '@holdfast/core/ports'
import { type Fault, fault, HoldfastError } from '@holdfast/protocol'
import { secretOf } from '../../tokens/token-secret.ts'
import type { CheckBearer, RequestSubject } from '../check-bearer.ts'
import { type AdmitRequest, createNodeHandler } from '../node-server.ts'
import { createProofCheck, proofHeader } from './node-proof.ts'

const keepAliveMs = 60_000

/** The port on which other nodes reach this one. Before `serve`, it refuses every request. */
export interface NodeListener {
  /** The URL that other nodes use. */
  readonly address: string
  serve(api: NodeApi, onProblem: OnProblem, checkBearer: CheckBearer): void
  close(): Promise<void>
}

/** Who this node is: its id, and the key that other nodes read in the store. */
export type NodeIdentity = { readonly id: string; readonly key: string }

/** Listens where `url` points to; without it, on a free port of this machine that only this machine can reach. */
export async function openNodeListener({ id, key }: NodeIdentity, url?: string): Promise<NodeListener> {
  const given = url === undefined ? null : parseNodeUrl(url)
  let handle: ((incoming: IncomingMessage, response: ServerResponse) => void) | null = null
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, response) => {
    if (handle) handle(incoming, response)
    else response.writeHead(503, { 'retry-after': '1' }).end()
  })
  server.on('clientError', (_, socket) => socket.destroy())
  const port = given === null ? 0 : Number(given.port || (given.protocol === 'https:' ? 443 : 80))
  const isLocal = given === null || /^(127\.|localhost$|\[::1\]$)/.test(given.hostname)
  server.listen(port, isLocal ? (given?.hostname.replace(/[[\]]/g, '') ?? '127.0.0.1') : undefined)
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new HoldfastError(cannotListen(given?.href ?? '127.0.0.1', cause))
  })
  server.unref()
  const bound = server.address() as AddressInfo // of a TCP server
  return {
    address: given?.origin ?? `http://127.0.0.1:${bound.port}`,
    serve(api, onProblem, checkBearer) {
      handle = createNodeHandler(api, onProblem, createAdmission({ id, key }, checkBearer))
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Lets in other nodes of the store, and the callers of theirs whose token is still valid. */
function createAdmission({ id, key }: NodeIdentity, checkBearer: CheckBearer): AdmitRequest {
  const check = createProofCheck(id, key)
  return async ({ path, body }, { headers }, response) => {
    const { authorization } = headers
    const proof = check(headers[proofHeader], { path, body, authorization })
    if (proof === null) return fault('unauthorized', 'Only nodes of the same store may send this.')
    response.setHeader(proofHeader, proof.answer)
    if (authorization === undefined) return null
    return checkBearer(secretOf(authorization), subjectOf(path, body))
  }
}

function subjectOf(path: string, body: string): RequestSubject {
  try {
    const { session, method, args }: Readonly<Record<string, unknown>> = JSON.parse(body)
    if (path !== '/call' || method !== 'start') return { session }
    const [options, tenant] = Array.isArray(args) ? args : []
    return { session, start: { tenant, parent: (options as { readonly parent?: unknown } | undefined)?.parent } }
  } catch {
    return { session: null } // refused as no JSON
  }
}

/** Parses the URL of a node. Refused: one that is not http or https, or has a path. */
function parseNodeUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.username) return url
  throw new HoldfastError(
    fault('bad_request', `${text} is not the URL of a node. Use one without a path, such as http://10.0.0.7:4821.`),
  )
}

const cannotListen = (where: string, { message }: Error): Fault =>
  fault('unreachable', `Cannot listen for other nodes at ${where}: ${message}`, { url: where })
