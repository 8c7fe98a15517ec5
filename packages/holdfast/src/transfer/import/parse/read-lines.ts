import { isUtf8 } from 'node:buffer'
import { limits } from '@holdfast/protocol'
import type { Remark } from './conversation.ts'
import { isObject, type JsonObject, parse } from './json.ts'
import type { SourceFile } from './source-file.ts'

const chunkBytes = 1024 * 1024
export const lineFeed = 0x0a
/** Longer lines are left out, with a remark. */
export const lineBytesMax = 64 * 1024 * 1024

/** Where a line begins: its number, and its position in the file. */
export type LinePlace = { readonly number: number; readonly position: number }

export type Line = LinePlace & { readonly bytes: Uint8Array; readonly isLast: boolean }

const firstLine: LinePlace = { number: 1, position: 0 }

/**
 * Reads the lines of a file from a line on, one chunk at a time. Blank lines are skipped but counted. Each line is a view of
 * what one read returned: a long one would otherwise be in memory twice.
 */
export function* readLines(
  file: Pick<SourceFile, 'read' | 'findEnd'>,
  remark: Remark,
  from: LinePlace = firstLine,
): Generator<Line> {
  let { number, position } = from
  for (;;) {
    const chunk = file.read(position, chunkBytes)
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const bytes = chunk.subarray(start, end)
      if (!isBlank(bytes)) yield { number, position: position + start, bytes, isLast: false }
      number++
      start = end + 1
    }
    if (chunk.length < chunkBytes) {
      const rest = chunk.subarray(start)
      if (!isBlank(rest)) yield { number, position: position + start, bytes: rest, isLast: true }
      return
    }
    position += start
    if (start > 0) continue // the next read begins with the line that this one cut
    const { end, isLast } = file.findEnd(position + chunk.length, lineFeed)
    const long = readLong(file, position, end - position)
    if (long === null) remark(number, 'line_too_long', `A line of more than ${lineBytesMax} bytes was left out.`)
    else if (!isBlank(long)) yield { number, position, bytes: long, isLast }
    if (isLast) return
    number++
    position = end + 1
  }
}

const readLong = (file: Pick<SourceFile, 'read'>, position: number, length: number): Uint8Array | null =>
  length > lineBytesMax ? null : file.read(position, length)

export const isBlank = (bytes: Uint8Array): boolean => {
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false
  }
  return true
}

/** Decodes bytes as UTF-8, without a byte-order mark, and remarks on problems. */
export function decode(bytes: Uint8Array, line: number | null, remark: Remark): string {
  remarkEncoding(bytes, line, remark)
  const skipped = hasMark(bytes) ? mark.length : 0
  return Buffer.from(bytes.buffer, bytes.byteOffset + skipped, bytes.byteLength - skipped).toString('utf8')
}

function remarkEncoding(bytes: Uint8Array, line: number | null, remark: Remark): void {
  if (!isUtf8(bytes)) remark(line, 'not_utf8', 'Bytes that are not valid UTF-8 were replaced.')
  if (hasMark(bytes)) remark(line, 'byte_order_mark', 'A byte-order mark was left out.')
}

/** The byte-order mark in UTF-8. */
const mark = [0xef, 0xbb, 0xbf] as const
const hasMark = (bytes: Uint8Array): boolean => bytes[0] === mark[0] && bytes[1] === mark[1] && bytes[2] === mark[2]

/**
 * Parses the object on a line, also one that follows a torn record; returns null with a remark if there is none.
 * `parsed` is the value of the line if it was parsed before.
 */
export function parseLine({ number, bytes, isLast }: Line, remark: Remark, parsed?: unknown): JsonObject | null {
  if (isObject(parsed)) {
    remarkEncoding(bytes, number, remark)
    return parsed
  }
  const text = decode(bytes, number, remark)
  const isDeep = isTooComplex(bytes)
  const value = isDeep ? undefined : parse(text)
  if (isObject(value)) return value
  if (value !== undefined) {
    remark(number, 'damaged_line', 'A line that is not a JSON object was left out.')
    return null
  }
  const nul = text.indexOf('\0')
  const glued = isDeep ? null : findFusedRecord(nul === -1 ? text : text.replaceAll('\0', ''))
  if (glued !== null) {
    remark(number, 'fused_line', 'A torn record was left out; the one after it was kept.')
    return glued
  }
  if (nul !== -1) remark(number, 'nul_bytes', 'A line with NUL bytes in it was left out.')
  else if (isLast) remark(number, 'torn_tail', 'The last line is torn and was left out.')
  else remark(number, 'damaged_line', 'A line that is not JSON was left out.')
  return null
}

/** Less text cannot nest deep enough, or have enough values, to matter. */
const checkedBytesMin = 64 * 1024
const nestingMax = 10_000

/**
 * Returns whether JSON text opens more than 10,000 values at once or has more values than are imported: its parser needs
 * memory for each of them, far more than the text has bytes.
 */
export function isTooComplex(bytes: Uint8Array): boolean {
  if (bytes.length < checkedBytesMin) return false
  let [depth, values] = [0, 0]
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) isInString = !isInString
    else if (byte === backslash) at++
    else if (isInString) continue
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > nestingMax || ++values > limits.importedValuesMax) return true
    } else if (byte === 0x7d || byte === 0x5d) depth--
    else if ((byte === comma || byte === colon) && ++values > limits.importedValuesMax) return true
  }
  return false
}

const comma = 0x2c
const colon = 0x3a
const quote = 0x22
const backslash = 0x5c

const fusedTriesMax = 50
/** The tries on one line parse at most this many characters, and four times its length. */
const fusedCharsMax = 4 * 1024 * 1024

/** Finds the complete record after a torn one. `parseText` is JSON.parse, or `undefined` for what is not JSON. */
export function findFusedRecord(text: string, parseText: typeof parse = parse): JsonObject | null {
  let at = -1
  let left = fusedCharsMax + 4 * text.length
  for (let tries = 0; tries < fusedTriesMax; tries++) {
    at = text.indexOf('{"', at + 1)
    if (at === -1) return null
    left -= text.length - at
    if (left < 0) return null
    const value = parseText(text.slice(at))
    // An inner object of the torn record does not count: a record has a role or a type.
    if (isObject(value)) return 'role' in value || 'type' in value ? value : null
  }
  return null
}
