import { readSync } from 'node:fs'

export const headerBytes = 32
export const frameHeaderBytes = 24
/** More than an ordinary commit writes, so that one read is enough. */
const framesAtOnce = 8
// The first four bytes of a write-ahead log, by the byte order of its checksums (sqlite.org/fileformat2.html).
const magicNumbers: ReadonlySet<number> = new Set([0x377f0682, 0x377f0683])

/** The committed frames of a log that begin with these salts. */
export type KnownFrames = { readonly salts: Buffer; readonly count: number }

/**
 * Follows the committed frames of a write-ahead log in the file itself, as a recovery would find them. Frames begin with
 * the salts of the log's header; after a restart of the log the salts differ, and old frames no longer count.
 */
export function createLogFrames(file: number) {
  let salts: Buffer = Buffer.alloc(0)
  let frameBytes = 0
  let count = 0
  /** The last committed frame. A log that was truncated and extended again has zeros in its place. */
  let last: Buffer = Buffer.alloc(0)
  const header = Buffer.alloc(headerBytes)
  let chunk: Buffer = Buffer.alloc(0)

  function begin(): void {
    salts = Buffer.from(header.subarray(16, 24))
    frameBytes = frameHeaderBytes + header.readUInt32BE(8)
    count = 0
    last = Buffer.alloc(0)
    if (chunk.length !== frameBytes * framesAtOnce) chunk = Buffer.alloc(frameBytes * framesAtOnce)
  }

  /** Reads on from the last known frame. Returns false if a known frame is gone. */
  function follow(): boolean {
    const read = readSync(file, header, 0, headerBytes, 0)
    if (read < headerBytes || !magicNumbers.has(header.readUInt32BE(0))) return count === 0
    if (!header.subarray(16, 24).equals(salts)) begin()
    for (let first = Math.max(0, count - 1); ; first += framesAtOnce) {
      const bytes = readSync(file, chunk, 0, chunk.length, headerBytes + first * frameBytes)
      for (let index = 0; index < framesAtOnce; index++) {
        const frame = chunk.subarray(index * frameBytes, (index + 1) * frameBytes)
        const isWhole = (index + 1) * frameBytes <= bytes
        if (first + index === count - 1) {
          if (!isWhole || !frame.equals(last)) return false
          continue
        }
        if (!isWhole || !frame.subarray(8, 16).equals(salts)) return true
        // A frame that ends a commit names the size of the database.
        if (frame.readUInt32BE(4) !== 0) [count, last] = [first + index + 1, Buffer.from(frame)]
      }
    }
  }

  return {
    follow,
    count: (): number => count,
    known: (): KnownFrames => ({ salts, count }),
    /** Tells whether the file is long enough for the known frames. */
    areThere: (): boolean => count === 0 || readSync(file, header, 0, 1, headerBytes + count * frameBytes - 1) === 1,
    /** Forgets all frames; the next `follow` starts at the beginning. */
    reset(): void {
      salts = Buffer.alloc(0)
      count = 0
    },
  }
}
