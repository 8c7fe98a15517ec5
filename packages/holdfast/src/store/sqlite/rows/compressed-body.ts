import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** A shorter body saves little, and most are shorter: their appends pay nothing. */
export const packedCharsMin = 1536
/** What saves less than this share of itself stays text, which needs no work to read. */
const savedShareMin = 1 / 8
/** Far more than any record holds: damaged bytes may claim any length. */
const unpackedBytesMax = 512 * 1024 * 1024

const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
const unpacking = { maxOutputLength: unpackedBytesMax }

/** A record's body as its column holds it: text, or where that is long and it pays, compressed. */
export function packBody(text: string): string | Uint8Array {
  if (text.length < packedCharsMin) return text
  const bytes = Buffer.from(text)
  const packed = zstdCompressSync(bytes, packing)
  return packed.length <= bytes.length * (1 - savedShareMin) ? packed : text
}

/** The text of a stored body. Of damaged bytes it is one that no event has, so that no checksum fits it. */
export function bodyText(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value)
  try {
    return zstdDecompressSync(value, unpacking).toString()
  } catch {
    return ''
  }
}
