import { openSync, readSync, statSync } from 'node:fs'

const magic = 'SQLite format 3\0'
const headerBytes = 100
const versionAt = 60
const applicationAt = 68

export type StoreHeader = { readonly applicationId: number; readonly version: number }

/**
 * Descriptors stay open, one for each file: closing any descriptor of a file drops the locks of every connection of this
 * process, and another process could then delete the write-ahead log while it is in use.
 */
const openFiles = new Map<string, { readonly inode: number; readonly file: number }>()

/**
 * Reads the header of a file, or returns null if it is not a SQLite file. Reads the bytes itself, because during a
 * checkpoint, or after an interrupted one, the main file is not a valid database without its write-ahead log. These
 * fields change only at the end of an upgrade, which checkpoints.
 */
export function readStoreHeader(path: string): StoreHeader | null {
  const { ino: inode } = statSync(path)
  let known = openFiles.get(path)
  if (known?.inode !== inode) {
    known = { inode, file: openSync(path, 'r') }
    openFiles.set(path, known)
  }
  const header = Buffer.alloc(headerBytes)
  if (readSync(known.file, header, 0, headerBytes, 0) < headerBytes) return null
  if (header.toString('latin1', 0, magic.length) !== magic) return null
  return { applicationId: header.readInt32BE(applicationAt), version: header.readInt32BE(versionAt) }
}
