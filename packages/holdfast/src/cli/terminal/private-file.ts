import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { type AtomicFile, type AtomicFileOptions, openAtomicFile } from '../../system/files/atomic-file.ts'

/** A file that a person asked for: where one is in the way, they are told of the flag that replaces it. */
export function openPrivateFile(path: string, options: AtomicFileOptions): Result<AtomicFile> {
  const file = hinted(openAtomicFile(path, options), path)
  return file.ok ? ok({ ...file.value, keep: () => hinted(file.value.keep(), path) }) : file
}

function hinted<Value>(result: Result<Value>, path: string): Result<Value> {
  if (result.ok || result.fault.details?.['reason'] !== 'exists') return result
  return refuse(fault('bad_request', `${path} exists; --force replaces it.`, { path }))
}
