import { type Fault, faultStatus } from '@holdfast/protocol'
import { maskKeys } from '../../system/secrets/known-keys.ts'

/** A fault as every client gets it: `{"error": {code, message, details?}}` with the status of its code, and no key we know. */
export function errorAnswer(fault: Fault, headers: Readonly<Record<string, string>> = {}): Response {
  const retryAfter = fault.details?.['retryAfterSeconds']
  return new Response(maskKeys(JSON.stringify({ error: fault })), {
    status: faultStatus[fault.code],
    headers: {
      'content-type': 'application/json',
      ...headers,
      ...(fault.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }),
      ...(typeof retryAfter === 'number' && { 'retry-after': String(retryAfter) }),
    },
  })
}
