import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/**
 * A file that an import reads. It is read without waiting: the import has a thread of its own. Disposing it frees its
 * memory; it may be disposed of twice.
 */
export interface SourceFile extends Disposable {
  readonly size: number
  readonly isFile: boolean
  /** Reads up to `length` bytes from a position; fewer at the end of the file. */
  read(position: number, length: number): Uint8Array
  /** Finds the next `byte` from a position on; the end of the file, `isLast`, if there is none. Keeps nothing of the file. */
  findEnd(position: number, byte: number): { readonly end: number; readonly isLast: boolean }
}

/** A file up to this size is read once, and then served from memory. */
const keptBytesMax = 1024 * 1024
/** Small files are read into the same piece of memory, one after the other: many pieces would take long to collect. */
const sharedBytes = 1024 * 1024
const smallBytesMax = 64 * 1024
let shared = Buffer.alloc(0)
/** A file is searched in pieces of this size. */
const searchedBytes = 256 * 1024

/** Returns memory that nothing else uses. */
function allocate(length: number): Buffer {
  if (length > smallBytesMax) return Buffer.allocUnsafeSlow(length)
  if (length > shared.length) shared = Buffer.allocUnsafeSlow(sharedBytes)
  const given = shared.subarray(0, length)
  shared = shared.subarray(length)
  return given
}

export function openSourceFile(path: string): SourceFile {
  // O_NONBLOCK: opening a pipe must not block.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stats = fstatSync(descriptor)
  const fill = (bytes: Buffer, position: number): Buffer => {
    let read = 0
    for (let more = -1; more !== 0 && read < bytes.length; read += more)
      more = readSync(descriptor, bytes, read, bytes.length - read, position + read)
    return bytes.subarray(0, read)
  }
  // Lines are views of what is read, so each read needs new memory.
  const readAt = (position: number, length: number): Uint8Array => fill(allocate(length), position)
  const findEnd = (position: number, byte: number) => {
    const bytes = Buffer.allocUnsafe(searchedBytes)
    for (let at = position; ; ) {
      const searched = kept?.subarray(at, at + searchedBytes) ?? fill(bytes, at)
      const found = searched.indexOf(byte)
      if (found !== -1) return { end: at + found, isLast: false }
      at += searched.length
      if (searched.length === 0) return { end: at, isLast: true }
    }
  }
  const isFile = stats.isFile()
  let kept = isFile && stats.size <= keptBytesMax ? readAt(0, stats.size) : null
  let isOpen = kept === null
  if (!isOpen) closeSync(descriptor)
  return {
    size: stats.size,
    isFile,
    read: (position, length) => kept?.subarray(position, position + length) ?? readAt(position, length),
    findEnd,
    [Symbol.dispose]() {
      if (isOpen) closeSync(descriptor)
      isOpen = false
      kept = null
    },
  }
}
