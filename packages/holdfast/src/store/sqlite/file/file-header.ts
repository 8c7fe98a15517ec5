import { openSync, readSync, statSync } from 'node:fs'

const magic = 'SQLite format 3\0'
const headerBytes = 100
const versionAt = 60
const applicationAt = 68

export type StoreHeader = { readonly applicationId: number; readonly version: number }

type Held = { readonly inode: number; readonly file: number }

/**
 * Descriptors are kept, one for each file ever looked at: closing any descriptor of a file drops the locks that every
 * connection of this process holds on it, and another process could then take the write-ahead log away from under us.
 */
const held = new Map<string, Held>()

/**
 * What the first bytes of a file say it is, or null when it is no SQLite file. Not through SQLite: in the middle of a
 * checkpoint, or after one that a crash cut short, the main file alone is not whole, and only together with its log is it
 * a database. What is read here changes once at most: at the end of an upgrade, which folds its log into the file.
 */
export function readStoreHeader(path: string): StoreHeader | null {
  const { ino: inode } = statSync(path)
  let known = held.get(path)
  if (known?.inode !== inode) {
    known = { inode, file: openSync(path, 'r') }
    held.set(path, known)
  }
  const header = Buffer.alloc(headerBytes)
  if (readSync(known.file, header, 0, headerBytes, 0) < headerBytes) return null
  if (header.toString('latin1', 0, magic.length) !== magic) return null
  return { applicationId: header.readInt32BE(applicationAt), version: header.readInt32BE(versionAt) }
}
