import { lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import { escapeLine, type Fault, fault, HoldfastError, ok, type Result, refuse } from '@holdfast/protocol'
import { Agent, buildConnector, fetch } from 'undici'
import { isPublicAddress } from './address.ts'
import { checkTarget, type FetchTarget, privateAddress } from './fetch-target.ts'

/** Looks up all addresses of a name. */
export type Lookup = (name: string) => Promise<readonly { readonly address: string; readonly family: number }[]>

export type DownloadOptions = {
  readonly allowedHosts: readonly string[]
  readonly signal: AbortSignal
  readonly timeoutMs: number
  readonly bytesMax: number
  /** Called with each URL before it is requested. */
  readonly onRequest: (url: URL) => void
  /** The system's by default. */
  readonly lookup?: Lookup | undefined
}

/** What a server answered, decompressed. */
export type Download =
  | { readonly type: 'elsewhere'; readonly url: URL }
  | {
      readonly type: 'answered'
      readonly url: URL
      readonly status: number
      readonly contentType: string
      readonly bytes: Buffer
      /** The rest was not read. */
      readonly isCut: boolean
    }

const redirectsMax = 5
const accept = 'text/markdown, text/plain;q=0.9, text/html;q=0.8, application/json;q=0.8, */*;q=0.5'

/** Fetches a URL. Follows redirects on the same host; another host is returned, so that the model decides. */
export async function download(start: FetchTarget, options: DownloadOptions): Promise<Result<Download>> {
  const late = AbortSignal.timeout(options.timeoutMs)
  const signal = AbortSignal.any([options.signal, late])
  let target = start
  for (let redirects = 0; redirects <= redirectsMax; redirects++) {
    options.onRequest(target.url)
    const answered = await request(target, signal, options).catch((cause: unknown) => {
      if (options.signal.aborted) return refuse(fault('bad_request', 'aborted'))
      if (late.aborted) return refuse(tooSlow(target.url, options.timeoutMs))
      return refuse(faultOf(cause, target.url))
    })
    if (!answered.ok || answered.value.type !== 'redirect') return answered as Result<Download>
    const next = checkTarget(answered.value.location, options.allowedHosts, target.url)
    if (!next.ok) return next
    if (next.value.url.hostname !== start.url.hostname) return ok({ type: 'elsewhere', url: next.value.url })
    target = next.value
  }
  return refuse(fault('bad_request', `${escapeLine(start.url.href)} redirects more than ${redirectsMax} times`))
}

type Answered = Download | { readonly type: 'redirect'; readonly location: string }

async function request(target: FetchTarget, signal: AbortSignal, options: DownloadOptions): Promise<Result<Answered>> {
  const agent = createGuardedAgent(target, options.lookup ?? lookupAll)
  try {
    const { url } = target
    const headers = { accept, 'user-agent': 'holdfast' }
    const response = await fetch(url, { dispatcher: agent, redirect: 'manual', headers, signal })
    const location = response.headers.get('location')
    if (response.status >= 300 && response.status < 400 && location !== null) return ok({ type: 'redirect', location })
    const { status } = response
    const contentType = response.headers.get('content-type') ?? ''
    const body = await readBody(response.body, options.bytesMax)
    return ok({ type: 'answered', url, status, contentType, ...body })
  } finally {
    await agent.destroy()
  }
}

/** Reads a decompressed body up to a size, so that a small answer cannot become a large one. */
async function readBody(body: AsyncIterable<Uint8Array> | null, bytesMax: number) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk.subarray(0, bytesMax - bytes))
    bytes += chunk.length
    if (bytes > bytesMax) break // ends the stream
  }
  return { bytes: Buffer.concat(chunks), isCut: bytes > bytesMax }
}

/**
 * Creates an agent that connects only to public addresses, unless the host is allowed. A literal address is never looked
 * up, so it is checked here; all addresses of a name are; and so is the address of the connected socket.
 */
function createGuardedAgent({ url, isAllowedHost }: FetchTarget, lookup: Lookup): Agent {
  const mayConnect = (address: string) => isAllowedHost || isPublicAddress(address)
  const refused = () => new HoldfastError(privateAddress(url.hostname))
  const connect = buildConnector({
    maxCachedSessions: 0,
    lookup(name, { all }, callback) {
      lookup(name).then(
        (found) => {
          const [first] = found
          if (first === undefined || !found.every(({ address }) => mayConnect(address))) callback(refused(), '', 0)
          else if (all) callback(null, [...found])
          else callback(null, first.address, first.family)
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      )
    },
  })
  return new Agent({
    connect(options, callback) {
      const host = options.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) !== 0 && !mayConnect(host)) return callback(refused(), null)
      connect(options, (...connected) => {
        const [error, socket] = connected
        if (error !== null) return callback(error, null)
        if (mayConnect(socket.remoteAddress ?? '')) return callback(null, socket)
        socket.destroy()
        callback(refused(), null)
      })
    },
  })
}

const lookupAll: Lookup = (name) =>
  new Promise((resolve, reject) => {
    systemLookup(name, { all: true }, (error, found) => (error ? reject(error) : resolve(found)))
  })

const tooSlow = (url: URL, timeoutMs: number) =>
  fault('unreachable', `${escapeLine(url.host)} did not answer in full within ${timeoutMs / 1000} seconds`)

/** Returns the fault of a failed request. Undici puts the reason into `cause`. */
function faultOf(error: unknown, url: URL): Fault {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof HoldfastError) return cause.toFault()
    const code = 'code' in cause ? String(cause.code) : ''
    if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
      return fault('unreachable', `Cannot resolve ${escapeLine(url.hostname)}. Is the name right? Are you online?`)
    if (code !== '' && cause.cause === undefined)
      return fault('unreachable', `${escapeLine(url.host)} cannot be fetched: ${escapeLine(cause.message)} (${code})`)
  }
  return fault('unreachable', `${escapeLine(url.host)} cannot be fetched: ${escapeLine(String(error))}`)
}
