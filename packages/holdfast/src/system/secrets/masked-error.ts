import { inspect } from 'node:util'
import { holdsKey, maskKeys } from './known-keys.ts'

/** So deep an error is looked into: a library hangs requests and their headers on what it throws. */
const depthMax = 8

/** What was thrown, without any key we know. It is the same where it holds none; else what it says and where, and no more. */
export function maskError(thrown: unknown): unknown {
  if (typeof thrown === 'string') return maskKeys(thrown)
  const text = inspect(thrown, { depth: depthMax, customInspect: false, maxStringLength: null, maxArrayLength: null })
  if (!holdsKey(text)) return thrown
  if (!(thrown instanceof Error)) return maskKeys(text)
  const masked = new Error(maskKeys(thrown.message))
  masked.name = thrown.name
  if (thrown.stack !== undefined) masked.stack = maskKeys(thrown.stack)
  return 'code' in thrown && typeof thrown.code === 'string' ? Object.assign(masked, { code: thrown.code }) : masked
}
