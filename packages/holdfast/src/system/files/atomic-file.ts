import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fault } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { systemErrorCode } from '../system-error.ts'
import { syncDirectorySync } from './sync-directory.ts'

/** A file written under a temporary name. `commit` gives it its real name; only its owner can read it. */
export interface AtomicFile {
  readonly write: (text: string) => Promise<void>
  commit(): Result<null>
  discard(): void
}

export type AtomicFileOptions = {
  /** Whether it may replace an existing file. */
  readonly replaces: boolean
  readonly pid: number
}

export function openAtomicFile(path: string, { replaces, pid }: AtomicFileOptions): Result<AtomicFile> {
  if (existsSync(path) && statSync(path).isDirectory()) return unusable(`${path} is a directory.`, path)
  if (!replaces && existsSync(path)) return exists(path)
  if (!existsSync(dirname(path))) return unusable(`There is no directory ${dirname(path)}.`, path)
  const temporary = join(dirname(path), `.${basename(path)}.${pid}.tmp`)
  const file = openSync(temporary, 'wx', 0o600)
  fchmodSync(file, 0o600) // whatever the umask
  const remove = () => rmSync(temporary, { force: true })
  return ok({
    async write(text) {
      const bytes = Buffer.from(text)
      for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written)
    },
    commit() {
      fsyncSync(file)
      closeSync(file)
      try {
        // `link` never replaces a file that appeared while we wrote.
        if (replaces) renameSync(temporary, path)
        else linkSync(temporary, path)
        syncDirectorySync(dirname(path))
        return ok(null)
      } catch (error) {
        if (systemErrorCode(error) !== 'EEXIST') throw error
        return exists(path)
      } finally {
        remove()
      }
    },
    discard() {
      closeSync(file)
      remove()
    },
  })
}

const unusable = (message: string, path: string): Result<never> => refuse(fault('bad_request', message, { path }))

const exists = (path: string): Result<never> =>
  refuse(fault('bad_request', `${path} exists.`, { path, reason: 'exists' }))
