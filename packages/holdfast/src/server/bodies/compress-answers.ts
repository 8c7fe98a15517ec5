import type { MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { isLoopback } from '../auth/server-address.ts'

/** Below this, the headers cost as much as is saved. */
const bytesMin = 4096

/** Text only: blobs may be compressed already, and a stream of events must send each event at once. */
const compressible =
  /^(application\/(json|x-ndjson|manifest\+json)|text\/(markdown|html|css|javascript|plain)|image\/svg\+xml)\b/

/**
 * Compresses long answers for clients on other machines, piece by piece on other threads. On this machine, a client gets
 * the bytes sooner than they could be compressed.
 */
export function compressAnswers(remoteOf: (context: Parameters<MiddlewareHandler>[0]) => string): MiddlewareHandler {
  const compressed = compress({ threshold: bytesMin, contentTypeFilter: compressible })
  return (context, next) => (isLoopback(remoteOf(context)) ? next() : compressed(context, next))
}
