import type { FileHandle } from 'node:fs/promises'

const chunkBytes = 64 * 1024
const lineFeed = 0x0a

export type LineRange = {
  /** The lines asked for, as they are in the file. */
  readonly bytes: Buffer
  /** The line the next byte belongs to, 1-based. */
  readonly nextLine: number
  /** `far`: the first line is not among the bytes that may be skipped. */
  readonly end: 'file' | 'lines' | 'bytes' | 'far' | 'aborted'
}

type WindowRequest = {
  /** The first line, 1-based. */
  readonly offset: number
  readonly lines: number
  readonly bytesMax: number
  /** How much is read at most to find the first line: a file with a hole can have any size. */
  readonly skippedMax: number
  readonly signal: AbortSignal
}

/** Reads lines of a file of any size without holding more than it returns. */
export async function readRange(handle: FileHandle, request: WindowRequest): Promise<LineRange> {
  const { offset, bytesMax, skippedMax, signal } = request
  const stop = offset + request.lines
  const kept: Buffer[] = []
  let keptBytes = 0
  let line = 1
  const window = (end: LineRange['end']): LineRange => ({ bytes: Buffer.concat(kept), nextLine: line, end })

  let chunk = Buffer.allocUnsafe(chunkBytes)
  for (let position = 0; ; ) {
    if (signal.aborted) return window('aborted')
    if (line < offset && position >= skippedMax) return window('far')
    if (keptBytes > 0) chunk = Buffer.allocUnsafe(chunkBytes) // the previous chunk holds lines to return
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, position)
    if (bytesRead === 0) return window('file')
    position += bytesRead

    // A step per byte and none per line: a file may have millions of empty lines before the first one asked for.
    let from = 0
    while (from < bytesRead && line < offset) if (chunk[from++] === lineFeed) line++
    const start = from
    while (from < bytesRead && line < stop) if (chunk[from++] === lineFeed) line++
    if (from > start) kept.push(chunk.subarray(start, from))
    keptBytes += from - start
    if (keptBytes > bytesMax) return cut(Buffer.concat(kept), bytesMax, offset)
    if (line >= stop && from < bytesRead) return window('lines')
  }
}

/** Cuts at the last whole line that fits; inside a line only when not even one line fits. */
function cut(bytes: Buffer, bytesMax: number, firstLine: number): LineRange {
  const fitting = bytes.subarray(0, bytesMax)
  const lastFeed = fitting.lastIndexOf(lineFeed)
  if (lastFeed !== -1) {
    let line = firstLine
    for (const byte of fitting) if (byte === lineFeed) line++
    return { bytes: bytes.subarray(0, lastFeed + 1), nextLine: line, end: 'bytes' }
  }
  let border = bytesMax
  while (border > bytesMax - 4 && ((bytes[border] ?? 0) & 0xc0) === 0x80) border-- // never inside a character
  return { bytes: bytes.subarray(0, border), nextLine: firstLine + 1, end: 'bytes' }
}
