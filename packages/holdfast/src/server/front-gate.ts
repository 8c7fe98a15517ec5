import type { IncomingMessage } from 'node:http'
import { type Fault, fault } from '@holdfast/protocol'
import type { OwnAddress } from './auth/own-address.ts'

const dotSegment = /\/(\.|%2e){1,2}(\/|$)/i

/**
 * What is settled on the request as it was sent, before any library tidies it up: the name we were called by, and a
 * path that tries to climb (a URL parser would quietly resolve it to another route).
 */
export function checkAtGate({ rawHeaders, url = '' }: IncomingMessage, address: OwnAddress): Fault | null {
  const wrongHost = address.checkHost(rawHeaders)
  if (wrongHost) return wrongHost
  if (!url.startsWith('/')) return fault('bad_request', 'The request target is a path.')
  const [path = ''] = url.split('?', 1)
  if (dotSegment.test(path) || path.includes('\\'))
    return fault('bad_id', 'A path holds no `.` or `..` and no backslash.')
  return null
}
