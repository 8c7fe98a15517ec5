import { isUtf8 } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'
import type { Remark } from './conversation.ts'
import { isObject, type JsonObject, parse } from './json.ts'

const chunkBytes = 1024 * 1024
const lineFeed = 0x0a
/** Extra bytes to detect the end of the file. */
const endBytes = 1024
/** Longer lines are left out, with a remark. */
const lineBytesMax = 64 * 1024 * 1024
const fusedTriesMax = 50

export type Line = { readonly number: number; readonly bytes: Uint8Array; readonly isLast: boolean }

/** Reads the lines of a file, one chunk at a time. Blank lines are skipped but counted. */
export async function* readLines(file: FileHandle, remark: Remark): AsyncGenerator<readonly Line[]> {
  let pending: Uint8Array[] = []
  let pendingBytes = 0
  let isTooLong = false
  let number = 1
  const endLine = (rest: Uint8Array, isLast: boolean, lines: Line[]) => {
    if (isTooLong) remark(number, 'line_too_long', `A line of more than ${lineBytesMax} bytes was left out.`)
    else {
      const bytes = pending.length === 0 ? rest : Buffer.concat([...pending, rest])
      if (!isBlank(bytes)) lines.push({ number, bytes, isLast })
    }
    pending = []
    pendingBytes = 0
    isTooLong = false
    number++
  }

  const { size } = await file.stat()
  for (let position = 0; ; ) {
    // Lines are views of their chunk, so each read needs a new chunk; a small file gets a small one.
    const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, Math.max(size - position, endBytes)))
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position)
    const lines: Line[] = []
    if (bytesRead === 0) {
      if (pendingBytes > 0 || isTooLong) endLine(new Uint8Array(0), true, lines)
      yield lines
      return
    }
    position += bytesRead
    let start = 0
    for (;;) {
      const end = chunk.subarray(0, bytesRead).indexOf(lineFeed, start)
      if (end === -1) break
      endLine(chunk.subarray(start, end), false, lines)
      start = end + 1
    }
    const rest = chunk.subarray(start, bytesRead)
    pendingBytes += rest.length
    if (pendingBytes > lineBytesMax) {
      isTooLong = true
      pending = []
    } else if (rest.length > 0) pending.push(rest)
    yield lines
  }
}

const isBlank = (bytes: Uint8Array): boolean => {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false
  return true
}

const mark = '\ufeff'

/** Decodes bytes as UTF-8 and remarks on problems. */
export function decode(bytes: Uint8Array, line: number | null, remark: Remark): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (!isUtf8(bytes)) remark(line, 'not_utf8', 'Bytes that are not valid UTF-8 were replaced.')
  if (!text.startsWith(mark)) return text
  remark(line, 'byte_order_mark', 'A byte-order mark was left out.')
  return text.slice(1)
}

/** Parses the object on a line, also one that follows a torn record; returns null with a remark if there is none. */
export function parseLine({ number, bytes, isLast }: Line, remark: Remark): JsonObject | null {
  const text = decode(bytes, number, remark)
  const value = parse(text)
  if (isObject(value)) return value
  if (value !== undefined) {
    remark(number, 'damaged_line', 'A line that is not a JSON object was left out.')
    return null
  }
  const nul = text.indexOf('\0')
  const glued = findFusedRecord(nul === -1 ? text : text.replaceAll('\0', ''))
  if (glued !== null) {
    remark(number, 'fused_line', 'A torn record was left out; the one after it was kept.')
    return glued
  }
  if (nul !== -1) remark(number, 'nul_bytes', 'A line with NUL bytes in it was left out.')
  else if (isLast) remark(number, 'torn_tail', 'The last line is torn and was left out.')
  else remark(number, 'damaged_line', 'A line that is not JSON was left out.')
  return null
}

function findFusedRecord(text: string): JsonObject | null {
  let at = 0
  for (let tries = 0; tries < fusedTriesMax; tries++) {
    at = text.indexOf('{"', at + (tries === 0 ? 0 : 1))
    if (at === -1) return null
    const value = parse(text.slice(at))
    // An inner object of the torn record does not count: a record has a role or a type.
    if (isObject(value)) return 'role' in value || 'type' in value ? value : null
  }
  return null
}
