import { z } from 'zod'
import { explainIssue } from '../text/explain.ts'
import { hasUnpairedSurrogate } from '../text/unpaired-surrogate.ts'
import { fault } from '../value/fault.ts'
import { findJsonExcess } from '../value/json.ts'
import { ok, type Result, refuse } from '../value/result.ts'

const unpaired = 'a text has an unpaired surrogate.'

/**
 * Parses the options of a method, the same way in this process and before they are sent to a server. `purpose` completes
 * "Cannot …". An unknown option is refused with the nearest right name.
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  given: unknown,
  purpose: string,
): Result<z.output<Schema>> {
  const excess = findJsonExcess(given)
  if (excess !== null) return refuse(fault('bad_request', `Cannot ${purpose}: ${excess}.`))
  const parsed = schema.safeParse(given)
  if (parsed.success)
    return hasUnpairedSurrogate(parsed.data)
      ? refuse(fault('bad_request', `Cannot ${purpose}: ${unpaired}`))
      : ok(parsed.data)
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return refuse(fault('bad_request', `Cannot ${purpose}: ${explainIssue(parsed.error, known)}.`))
}
