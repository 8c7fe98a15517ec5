import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isOn, type Logger } from '../../observe/logging/logger.ts'

export const requestIdHeader = 'x-request-id'

const sane = /^[A-Za-z0-9][\w.:@=+-]{0,127}$/
const pathCharsMax = 300

/** The caller's own id of the request, so that both logs name it alike; one of ours where it has none that can be shown. */
const requestIdOf = ({ headers }: IncomingMessage): string => {
  const given = headers[requestIdHeader]
  return typeof given === 'string' && sane.test(given) ? given : randomUUID()
}

/** Names the request in its answer, whatever that will be, and writes down how it went once it is over. */
export function watchRequest(incoming: IncomingMessage, outgoing: ServerResponse, logger: Logger | undefined): void {
  const requestId = requestIdOf(incoming)
  outgoing.setHeader(requestIdHeader, requestId)
  if (!logger || !isOn(logger, 'error')) return
  const startedMs = performance.now()
  const { method, url = '' } = incoming
  // Without its query, which may hold a login code.
  const [path = ''] = url.split('?', 1)
  outgoing.once('close', () => {
    const { statusCode: status, writableFinished } = outgoing
    const ms = Math.round(performance.now() - startedMs)
    const about = { requestId, method, path: path.slice(0, pathCharsMax), status, ms }
    logger[status >= 500 ? 'error' : 'info']({ ...about, ...(!writableFinished && { isCut: true }) }, 'request')
  })
}

/** The id that `watchRequest` gave. */
export const requestIdIn = (outgoing: ServerResponse): string => String(outgoing.getHeader(requestIdHeader))
