import { type Fault, faultStatus } from '@holdfast/protocol'
import { maskKeys } from '../../system/secrets/known-keys.ts'

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

/** Headers of every answer: no script from outside runs, no other site frames us, no address leaks. */
export const answerHeaders: readonly (readonly [name: string, value: string])[] = [
  ['content-security-policy', contentPolicy],
  ['x-content-type-options', 'nosniff'],
  ['x-frame-options', 'DENY'],
  ['referrer-policy', 'no-referrer'],
  ['cross-origin-opener-policy', 'same-origin'],
  ['cross-origin-resource-policy', 'same-origin'],
  ['cache-control', 'no-store'],
]

/** Returns a fault as every client gets it: `{"error": {code, message, details?}}`, with known keys masked. */
export function answerFault(fault: Fault): Response {
  const retryAfter = fault.details?.['retryAfterSeconds']
  return new Response(maskKeys(JSON.stringify({ error: fault })), {
    status: faultStatus[fault.code],
    headers: {
      'content-type': 'application/json',
      ...(fault.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }),
      ...(typeof retryAfter === 'number' && { 'retry-after': String(retryAfter) }),
    },
  })
}
