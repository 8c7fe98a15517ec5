import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { type AtomicFile, type AtomicFileOptions, openAtomicFile } from '../../system/files/atomic-file.ts'

/** Opens a file that only its user can read. If the file exists, the error names the flag that replaces it. */
export function openPrivateFile(path: string, options: AtomicFileOptions): Result<AtomicFile> {
  const file = withHint(openAtomicFile(path, options), path)
  return file.ok ? ok({ ...file.value, keep: () => withHint(file.value.commit(), path) }) : file
}

function withHint<Value>(result: Result<Value>, path: string): Result<Value> {
  if (result.ok || result.fault.details?.['reason'] !== 'exists') return result
  return refuse(fault('bad_request', `${path} already exists. Use --force to replace it.`, { path }))
}
