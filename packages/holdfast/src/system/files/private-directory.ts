import { chmodSync, existsSync, lstatSync, mkdirSync, opendirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { fault, HoldfastError } from '@holdfast/protocol/fault'
import { systemErrorCode } from '../system-error.ts'
import { syncDirectorySync } from './sync-directory.ts'

/** Makes the directory for a file, private and durable, whatever the umask; tightens one that is there and is ours. */
export function ensurePrivateDirectory(directory: string): void {
  const missing = missingOf(resolve(directory))
  // One step at a time, as Node would not: its recursive mkdir never ends on a place like /proc.
  for (const path of missing) make(path)
  if (missing.length === 0 && isOurs(directory)) tighten(directory, 0o700)
}

/** The directories that are not there yet, the outermost first. */
function missingOf(directory: string): readonly string[] {
  if (existsSync(directory)) {
    opendirSync(directory).closeSync() // throws where it is no directory, as mkdir would
    return []
  }
  return [...missingOf(dirname(directory)), directory]
}

function make(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error // another process may have been as quick
  }
  chmodSync(path, 0o700)
  syncDirectorySync(dirname(path))
}

/** Takes from everyone else what they may do with a file or directory; never gives its owner more. */
export function tighten(path: string, mode: 0o600 | 0o700): void {
  const current = statSync(path).mode & 0o777
  if ((current & ~mode) !== 0) chmodSync(path, current & mode)
}

/** As above, and refused unless it is ours alone: where others may write, someone could have put theirs in our place. */
export function claimPrivateDirectory(directory: string): string {
  ensurePrivateDirectory(directory)
  const found = lstatSync(directory) // not through a link, which could lead anywhere
  const isForeign = process.getuid !== undefined && found.uid !== process.getuid()
  if (!found.isDirectory() || isForeign)
    throw new HoldfastError(fault('storage_error', `${directory} belongs to someone else.`, { path: directory }))
  tighten(directory, 0o700)
  return directory
}

/** Someone may keep a store in their home or project: those are not ours to close to others. */
function isOurs(directory: string): boolean {
  const { uid, mode } = statSync(directory)
  const place = resolve(directory)
  const isShared = (mode & 0o1000) !== 0 || place === homedir() || place === process.cwd()
  return !isShared && uid === process.getuid?.()
}
