import { chmodSync, existsSync, lstatSync, mkdirSync, opendirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../system-error.ts'
import { syncDirectorySync } from './sync-directory.ts'

/** Creates a private, durable directory regardless of the umask. Restricts an existing one if it is ours. */
export function ensurePrivateDirectory(directory: string): void {
  const missing = missingOf(resolve(directory))
  // Not `mkdir` with `recursive`: Node's never returns on a path like /proc.
  for (const path of missing) make(path)
  if (missing.length === 0 && isOurs(directory)) tighten(directory, 0o700)
}

/** Returns the missing directories, outermost first. */
function missingOf(directory: string): readonly string[] {
  if (existsSync(directory)) {
    opendirSync(directory).closeSync() // throws if it is not a directory, as mkdir would
    return []
  }
  return [...missingOf(dirname(directory)), directory]
}

function make(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error // another process may have created it
  }
  chmodSync(path, 0o700)
  syncDirectorySync(dirname(path))
}

/** Removes the permissions of everyone else; never adds any for the owner. */
export function tighten(path: string, mode: 0o600 | 0o700): void {
  const current = statSync(path).mode & 0o777
  if ((current & ~mode) !== 0) chmodSync(path, current & mode)
}

/** Does the same for a file that another process may remove at any moment, or that does not exist. */
export function tightenIfPresent(path: string, mode: 0o600 | 0o700): void {
  try {
    tighten(path, mode)
  } catch (error) {
    if (systemErrorCode(error) !== 'ENOENT') throw error
  }
}

/** Ensures a private directory that belongs to us. Throws if another user owns it, as may happen in /tmp. */
export function claimPrivateDirectory(directory: string): string {
  ensurePrivateDirectory(directory)
  const found = lstatSync(directory) // do not follow a link
  const isForeign = process.getuid !== undefined && found.uid !== process.getuid()
  if (!found.isDirectory() || isForeign)
    throw new HoldfastError(fault('storage_error', `${directory} belongs to someone else.`, { path: directory }))
  tighten(directory, 0o700)
  return directory
}

/** Returns whether we may restrict a directory: not a shared one, the home directory or the current project. */
function isOurs(directory: string): boolean {
  const { uid, mode } = statSync(directory)
  const isShared = (mode & 0o1000) !== 0 || [homedir(), process.cwd()].includes(resolve(directory))
  return !isShared && uid === process.getuid?.()
}
