import { APICallError } from '@ai-sdk/provider'

/** Why no answer came over the network, or no whole one. */
export type Trouble =
  /** Nothing listens there. */
  | 'refused'
  /** Nobody knows the name. */
  | 'unknown_host'
  /** The two do not trust each other, or one of them speaks no TLS. */
  | 'untrusted'
  | 'timeout'
  /** It broke while it was in use. */
  | 'broken'
  /** What answers there does not speak HTTP, or the address is none. */
  | 'no_http'
  | 'unreachable'

/** By the codes of Node's sockets and of its `fetch`, in the order in which they are looked for. */
const codes: readonly (readonly [Trouble, RegExp])[] = [
  ['refused', /^ECONNREFUSED$/],
  ['unknown_host', /^(ENOTFOUND|EAI_[A-Z]+)$/],
  ['untrusted', /^(ERR_TLS_|ERR_SSL_|CERT_|EPROTO$|[A-Z_]*SELF_SIGNED_CERT|UNABLE_TO_[A-Z_]*(CERT|SIGNATURE))/],
  ['timeout', /^(ETIMEDOUT|UND_ERR_[A-Z]+_TIMEOUT)$/],
  ['no_http', /^(HPE_|ERR_INVALID_URL$)/],
  ['broken', /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET|UND_ERR_ABORTED|ERR_STREAM_PREMATURE_CLOSE)$/],
  ['unreachable', /^(E[A-Z]{3,}|UND_ERR_)/],
]

/** The trouble with the connection, or null if an error is none of the network's. */
export function troubleOf(error: unknown): Trouble | null {
  const found = causesOf(error)
  const known = found.flatMap(
    (cause) => ('code' in cause && typeof cause.code === 'string' ? [cause.code as string] : []), // just seen to be one
  )
  if (found.some(({ name }) => name === 'TimeoutError')) return 'timeout' // of a signal that was given so long
  if (found.some(({ name }) => name === 'HTTPParserError')) return 'no_http' // it has a code in some versions only
  for (const [trouble, pattern] of codes) if (known.some((code) => pattern.test(code))) return trouble
  // `fetch` tells of a line that broke by a bare TypeError, and the SDK of one that never was by an error without a status.
  if (found.some((cause) => cause instanceof TypeError && /^terminated$/.test(cause.message))) return 'broken'
  if (found.some((cause) => cause instanceof TypeError && /^fetch failed$/.test(cause.message))) return 'unreachable'
  return APICallError.isInstance(error) && error.statusCode === undefined ? 'unreachable' : null
}

/** An error and what caused it; where several addresses were tried, the first of them stands for all. */
export function causesOf(error: unknown): readonly Error[] {
  const found: Error[] = []
  for (let at = error; at instanceof Error && found.length < 8; at = at.cause ?? firstOf(at)) found.push(at)
  return found
}

const firstOf = (error: Error): unknown => (error instanceof AggregateError ? error.errors[0] : undefined)
