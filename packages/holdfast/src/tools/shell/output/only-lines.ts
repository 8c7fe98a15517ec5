/** A longer line is cut into pieces of this size. */
const lineBytesMax = 64 * 1024

/** Yields the lines that contain `text`. */
export async function* onlyLinesWith(text: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const wanted = Buffer.from(text)
  let held: Buffer = Buffer.alloc(0)
  for await (const piece of bytes) {
    const all = Buffer.concat([held, piece])
    const end = all.lastIndexOf(0x0a) + 1
    const lines = all.subarray(0, end === 0 && all.length > lineBytesMax ? all.length : end)
    held = all.subarray(lines.length)
    const kept = linesWith(wanted, lines)
    if (kept.length > 0) yield kept
  }
  if (held.includes(wanted)) yield held
}

function linesWith(wanted: Buffer, lines: Buffer): Buffer {
  const kept: Buffer[] = []
  for (let at = lines.indexOf(wanted); at !== -1; ) {
    const start = lines.lastIndexOf(0x0a, at) + 1
    const newline = lines.indexOf(0x0a, at)
    const end = newline === -1 ? lines.length : newline + 1
    kept.push(lines.subarray(start, end))
    at = lines.indexOf(wanted, end)
  }
  return Buffer.concat(kept)
}
