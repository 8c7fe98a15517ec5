import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'

/** Makes the directory for a file, private and durable, whatever the umask; tightens one that is there and is ours. */
export function ensurePrivateDirectory(directory: string): void {
  const first = mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (first === undefined) {
    if (isOurs(directory)) tighten(directory, 0o700)
    return
  }
  for (let made = resolve(directory); made.length >= first.length; made = dirname(made)) {
    chmodSync(made, 0o700)
    syncDirectory(dirname(made))
    if (made === dirname(made)) break
  }
}

/** Takes from everyone else what they may do with a file or directory; never gives its owner more. */
export function tighten(path: string, mode: 0o600 | 0o700): void {
  const current = statSync(path).mode & 0o777
  if ((current & ~mode) !== 0) chmodSync(path, current & mode)
}

/** A new name is durable only once its directory is. */
export function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return // directories cannot be opened there, and NTFS journals names itself
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Someone may keep a store in their home or project: those are not ours to close to others. */
function isOurs(directory: string): boolean {
  const { uid, mode } = statSync(directory)
  const place = resolve(directory)
  const isShared = (mode & 0o1000) !== 0 || place === homedir() || place === process.cwd()
  return !isShared && uid === process.getuid?.()
}
