import { HoldfastError, type Result, refuse } from '@holdfast/protocol'

/**
 * Returns what was thrown as a refusal, as by a store that cannot be read: a handle throws only if its own code is broken.
 * Use it in `catch`.
 */
export function refuseThrown(cause: unknown): Result<never> {
  if (cause instanceof HoldfastError) return refuse(cause.toFault())
  throw cause
}
