import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** Most bodies are shorter than this; compressing them would save little. */
export const compressedCharsMin = 1536
/** A body that saves less than this share stays text, which is free to read. */
const savedShareMin = 1 / 8
/** Far more than any record holds. Damaged bytes may claim any length. */
const textBytesMax = 512 * 1024 * 1024

const compression = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const decompression = { maxOutputLength: textBytesMax }

/** Returns a record's body for its column: text, or compressed bytes if it is long and compresses well. */
export function compressBody(text: string): string | Uint8Array {
  if (text.length < compressedCharsMin) return text
  const bytes = Buffer.from(text)
  const compressed = zstdCompressSync(bytes, compression)
  return compressed.length <= bytes.length * (1 - savedShareMin) ? compressed : text
}

/** Returns the text of a stored body. For damaged bytes it is empty, which no checksum matches. */
export function decompressBody(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  try {
    return zstdDecompressSync(value, decompression).toString()
  } catch {
    return ''
  }
}
