import { readSync } from 'node:fs'
import { endianness } from 'node:os'
import { frameHeaderBytes, type KnownFrames, headerBytes as logHeaderBytes } from './log-frames.ts'

/** So many frames take about a tenth of a millisecond. */
const framesAtOnce = 64
// The checksums of a log have the byte order of the machine that began it.
const magicNumber = endianness() === 'LE' ? 0x377f0682 : 0x377f0683

/** `unfinished`: the time was over first. */
export type ChainState = 'whole' | 'broken' | 'unfinished'

/**
 * Verifies the checksums of a write-ahead log. Each covers its frame and the checksum before it, so a recovery ends at the
 * first frame that does not match, and loses all later commits (sqlite.org/fileformat2.html#walcksm).
 */
export function createLogChain(file: number) {
  const header = new Uint32Array(logHeaderBytes / 4)
  const headerView = new DataView(header.buffer)
  const sums = new Uint32Array(2)
  let chunk = new Uint32Array(0)
  let salts = ''
  let position = 0

  /** Returns false if the log is not one of these frames, or of another machine. */
  function readHeader({ salts: known }: KnownFrames): boolean {
    const read = readSync(file, header, 0, logHeaderBytes, 0)
    if (read < logHeaderBytes || headerView.getUint32(0) !== magicNumber) return false
    return Buffer.from(header.buffer, 16, 8).equals(known)
  }

  function begin(): boolean {
    position = 0
    salts = Buffer.from(header.buffer, 16, 8).toString('hex')
    const frameBytes = frameHeaderBytes + headerView.getUint32(8)
    if (chunk.byteLength !== frameBytes * framesAtOnce) chunk = new Uint32Array((frameBytes * framesAtOnce) / 4)
    sums.fill(0)
    addToSums(sums, header, 0, 6)
    return sums[0] === headerView.getUint32(24) && sums[1] === headerView.getUint32(28)
  }

  /** Verifies the next frames. Returns false if one of them does not match. */
  function verifyChunk(count: number): boolean {
    const frameWords = chunk.length / framesAtOnce
    const frames = Math.min(framesAtOnce, count - position)
    const bytes = readSync(file, chunk, 0, frames * frameWords * 4, logHeaderBytes + position * frameWords * 4)
    if (bytes < frames * frameWords * 4) return false
    const view = new DataView(chunk.buffer)
    for (let first = 0; first < frames * frameWords; first += frameWords) {
      addToSums(sums, chunk, first, first + 2)
      addToSums(sums, chunk, first + frameHeaderBytes / 4, first + frameWords)
      if (sums[0] !== view.getUint32(first * 4 + 16) || sums[1] !== view.getUint32(first * 4 + 20)) return false
    }
    position += frames
    return true
  }

  return {
    /** Verifies on from the last frame that matched. Begins again after an end, and after a restart of the log. */
    verify(known: KnownFrames, untilMs: number): ChainState {
      const isKnownLog = readHeader(known)
      if (isKnownLog && (position === 0 || known.salts.toString('hex') !== salts) && !begin()) return end('broken')
      while (isKnownLog && position < known.count) {
        // Another process may have begun the log anew meanwhile: it writes the header first.
        if (!verifyChunk(known.count)) return end(readHeader(known) ? 'broken' : 'whole')
        if (performance.now() >= untilMs && position < known.count) return 'unfinished'
      }
      return end('whole')
    },
  }

  function end(state: ChainState): ChainState {
    position = 0
    return state
  }
}

function addToSums(sums: Uint32Array, words: Uint32Array, from: number, upTo: number): void {
  let one = Number(sums[0])
  let other = Number(sums[1])
  for (let index = from; index < upTo; index += 2) {
    one = (one + (words[index] as number) + other) | 0 // the caller gives a range of the array
    other = (other + (words[index + 1] as number) + one) | 0
  }
  sums[0] = one
  sums[1] = other
}
