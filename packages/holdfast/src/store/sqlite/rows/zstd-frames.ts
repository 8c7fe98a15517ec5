import { zstdDecompressSync } from 'node:zlib'

/** The beginning of a zstd frame: how many bytes it has when it is decompressed, and where its first block begins. */
type FrameHeader = { readonly contentBytes: number; readonly blocksAt: number }

const magic = 0xfd2fb528
/** Bits of the frame header's first byte. */
const flag = { isOneSegment: 0x20, hasChecksum: 0x04, dictionary: 0x03 } as const

function readHeader(frame: Buffer): FrameHeader | null {
  if (frame.length < 16 || frame.readUInt32LE(0) !== magic) return null
  const flags = frame.readUInt8(4)
  const isOneSegment = (flags & flag.isOneSegment) !== 0
  const at = 5 + (isOneSegment ? 0 : 1) + ([0, 1, 2, 4][flags & flag.dictionary] ?? 0)
  switch (flags >> 6) {
    case 0:
      return isOneSegment ? { contentBytes: frame.readUInt8(at), blocksAt: at + 1 } : null
    case 1:
      return { contentBytes: frame.readUInt16LE(at) + 256, blocksAt: at + 2 }
    case 2:
      return { contentBytes: frame.readUInt32LE(at), blocksAt: at + 4 }
    default:
      return null // longer than any record
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

/** Returns how many bytes a compressed body has when it is decompressed, as its first bytes say; null if they do not. */
export const decompressedBytes = (compressed: Uint8Array): number | null =>
  readHeader(asBuffer(compressed))?.contentBytes ?? null

/**
 * Two blocks that set the three offsets which a block may repeat to 8, 4 and 1, as they are at the beginning of a frame. Each
 * has no literals and sequences that copy three bytes: one from 8 bytes before, then one from 4 and one from 1.
 */
const resetBlocks = Uint8Array.of(
  ...[0x3c, 0x00, 0x00, 0x00, 0x01, 0x54, 0x00, 0x03, 0x00, 0x0b],
  ...[0x3c, 0x00, 0x00, 0x00, 0x02, 0x54, 0x00, 0x02, 0x00, 0x1c],
)
/** How many bytes they decompress to. */
const resetBytes = 9
const lastBlock = Uint8Array.of(0x01, 0x00, 0x00)
/** Magic number, flags and four bytes for the length. */
const headerBytes = 9

/**
 * Decompresses several frames of one block each in one call, because Node creates a decompressor for each call: that takes
 * more than half of the time for a body of a few kilobytes. The blocks become blocks of one frame. Returns null if that is
 * not possible. A damaged frame may change the ones after it, so the caller checks each result.
 */
export function decompressTogether(frames: readonly Uint8Array[]): readonly Buffer[] | null {
  const pieces: Uint8Array[] = []
  const lengths: number[] = []
  const header = Buffer.alloc(headerBytes)
  pieces.push(header)
  let total = 0
  for (const frame of frames.map(asBuffer)) {
    const read = readHeader(frame)
    if (read === null || !isOneBlock(frame, read.blocksAt)) return null
    const first = Uint8Array.of((frame[read.blocksAt] ?? 0) & ~1) // no longer the last block
    pieces.push(first, frame.subarray(read.blocksAt + 1), resetBlocks)
    lengths.push(read.contentBytes)
    total += read.contentBytes + resetBytes
  }
  header.writeUInt32LE(magic, 0)
  header.writeUInt8((2 << 6) | flag.isOneSegment, 4)
  header.writeUInt32LE(total, 5)
  try {
    const joined = Buffer.concat([...pieces, lastBlock])
    const all = zstdDecompressSync(joined, { maxOutputLength: total, chunkSize: total })
    let at = 0
    return lengths.map((length) => {
      const start = at
      at += length + resetBytes
      return all.subarray(start, start + length)
    })
  } catch {
    return null
  }
}

/** Returns whether a frame has one block and nothing after it. */
function isOneBlock(frame: Buffer, at: number): boolean {
  if (((frame[4] ?? 0) & (flag.hasChecksum | flag.dictionary)) !== 0 || at + 3 > frame.length) return false
  const block = frame.readUIntLE(at, 3)
  return (block & 1) === 1 && at + 3 + (block >> 3) === frame.length
}
