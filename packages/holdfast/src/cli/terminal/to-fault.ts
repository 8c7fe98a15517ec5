import { type Fault, fault, HoldfastError } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../../system/system-error.ts'

/** The fault behind a thrown error, where someone foresaw it: one of ours, or one of the file system's. */
export function foreseen(error: unknown): Fault | null {
  if (error instanceof HoldfastError) return error.toFault()
  const errno = systemErrorCode(error)
  if (errno === null || !(error instanceof Error)) return null
  const path = 'path' in error ? String(error.path) : null
  const place = path === null ? '' : ` at ${path}`
  const call = 'syscall' in error ? String(error.syscall) : 'a call'
  return fault('storage_error', `The system refused ${call}${place}: ${errno}.`, {
    errno,
    ...(path !== null && { path }),
  })
}
