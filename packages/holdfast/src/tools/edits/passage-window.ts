import { isUtf8 } from 'node:buffer'
import { isBinary, utf8Bom } from './encoding.ts'

/** Some whole lines of a long text, around the only place of a passage. */
export type PassageWindow = {
  /** Where the lines are in the bytes of the text. */
  readonly from: number
  readonly to: number
  /** How many lines are before them. */
  readonly line: number
  readonly text: string
}

/** More lines than a change reaches, and than are shown around it. */
const linesAround = 8
const bytesAroundMax = 64 * 1024
const lineFeed = 10

/**
 * Cuts out the lines around the only place of a passage in a UTF-8 text, so that nothing else of a long file becomes a string.
 * Null if the bytes are another kind of file, or the passage is not there exactly once: then the whole text has to be read.
 */
export function cutWindow(bytes: Buffer, passage: string): PassageWindow | null {
  const isPlain = !isBinary(bytes) && isUtf8(bytes) && !bytes.subarray(0, utf8Bom.length).equals(utf8Bom)
  const searched = Buffer.from(passage)
  const start = isPlain ? findOnly(bytes, searched) : null
  if (start === null) return null
  const end = start + searched.length
  const [from, to] = [linesBack(bytes, start), linesOn(bytes, end)]
  if (start - from > bytesAroundMax || to - end > bytesAroundMax) return null
  return { from, to, line: countFeeds(bytes.subarray(0, from)), text: bytes.toString('utf8', from, to) }
}

/** A passage is found by its first bytes: `indexOf` of a long one can take quadratic time. */
const headBytesMax = 32
const placesTriedMax = 100

/** Returns where a passage begins; null if it occurs twice or not at all, or its start occurs very often. */
function findOnly(bytes: Buffer, passage: Buffer): number | null {
  const head = passage.subarray(0, headBytesMax)
  let [found, tries] = [-1, 0]
  for (let at = bytes.indexOf(head); at !== -1; at = bytes.indexOf(head, at + 1)) {
    if (++tries > placesTriedMax) return null
    if (!bytes.subarray(at, at + passage.length).equals(passage)) continue
    if (found !== -1) return null
    found = at
  }
  return found === -1 ? null : found
}

/** Returns the start of the line that is some lines before the one of `at`. */
function linesBack(bytes: Buffer, at: number): number {
  let start = at
  for (let line = 0; line <= linesAround && start > 0; line++) {
    const feed = start < 2 ? -1 : bytes.lastIndexOf(lineFeed, line === 0 ? start - 1 : start - 2)
    start = feed + 1
  }
  return start
}

/** Returns the end of the line that is some lines after the one of `at`. */
function linesOn(bytes: Buffer, at: number): number {
  let end = at
  for (let line = 0; line <= linesAround && end < bytes.length; line++) {
    const feed = bytes.indexOf(lineFeed, end)
    end = feed === -1 ? bytes.length : feed + 1
  }
  return end
}

/** Counts line feeds. In a string of one byte per character they are found much faster than in a buffer. */
export function countFeeds(bytes: Buffer): number {
  const text = bytes.toString('latin1')
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
