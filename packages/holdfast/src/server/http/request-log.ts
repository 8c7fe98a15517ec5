import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger } from '../../observe/logging/logger.ts'

export const requestIdHeader = 'x-request-id'

const safeId = /^[A-Za-z0-9][\w.:@=+-]{0,127}$/
const pathCharsMax = 300

/** Sets the request id on the answer (the caller's own if it is safe to log), and logs the request when it ends. */
export function logRequest(incoming: IncomingMessage, outgoing: ServerResponse, logger: Logger | undefined): void {
  const { method, url = '', headers } = incoming
  const given = headers[requestIdHeader]
  const requestId = typeof given === 'string' && safeId.test(given) ? given : randomUUID()
  outgoing.setHeader(requestIdHeader, requestId)
  if (!logger || logger.isLevelEnabled?.('error') === false) return
  const startedMs = performance.now()
  // Without the query: it may hold a login code.
  const [path = ''] = url.split('?', 1)
  outgoing.once('close', () => {
    const { statusCode: status, writableFinished } = outgoing
    const ms = Math.round(performance.now() - startedMs)
    const about = { requestId, method, path: path.slice(0, pathCharsMax), status, ms }
    logger[status >= 500 ? 'error' : 'info']({ ...about, ...(!writableFinished && { isCut: true }) }, 'request')
  })
}

/** Returns the id that `logRequest` set. */
export const requestIdOf = (outgoing: ServerResponse): string => String(outgoing.getHeader(requestIdHeader))
