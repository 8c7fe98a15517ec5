import { type Fault, fault, HoldfastError } from '@holdfast/protocol/fault'
import { systemErrorCode, systemErrorWords } from '../../system/system-error.ts'

/** Returns the fault of an expected error (ours, or one of the file system), or null for a bug. */
export function toFault(error: unknown): Fault | null {
  if (error instanceof HoldfastError) return error.toFault()
  const errno = systemErrorCode(error)
  if (errno === null || !(error instanceof Error)) return null
  const path = 'path' in error ? String(error.path) : null
  const words = systemErrorWords(error)
  const message = path === null ? `The system refused it: ${words}.` : `${path} cannot be used: ${words}.`
  return fault('storage_error', message, { errno, ...(path !== null && { path }) })
}
