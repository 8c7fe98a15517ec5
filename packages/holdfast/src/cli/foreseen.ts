import type { Fault } from '@holdfast/protocol'
import { faultOf } from './ended.ts'

/** The fault behind a thrown error, where someone foresaw it: one of ours, or one of the file system's. */
export function foreseen(error: unknown): Fault | null {
  if (!(error instanceof Error)) return null
  // A HoldfastError, known by its shape: to import its class would bring zod.
  if ('toFault' in error && typeof error.toFault === 'function') return error.toFault() as Fault
  if (!('syscall' in error) || !('code' in error)) return null
  const path = 'path' in error ? String(error.path) : null
  const place = path === null ? '' : ` at ${path}`
  return faultOf('storage_error', `The system refused ${String(error.syscall)}${place}: ${String(error.code)}.`, {
    errno: error.code,
    ...(path !== null && { path }),
  })
}
