import { type Fault, faultStatus } from '@holdfast/protocol'

/** A fault as every client gets it: `{"error": {code, message, details?}}` with the status of its code. */
export function errorAnswer(fault: Fault, headers: Readonly<Record<string, string>> = {}): Response {
  const retryAfter = fault.details?.['retryAfterSeconds']
  return Response.json(
    { error: fault },
    {
      status: faultStatus[fault.code],
      headers: {
        ...headers,
        ...(fault.code === 'unauthorized' && { 'www-authenticate': 'Bearer' }),
        ...(typeof retryAfter === 'number' && { 'retry-after': String(retryAfter) }),
      },
    },
  )
}
