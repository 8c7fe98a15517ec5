const lineFeed = 10

/**
 * Returns the head and the tail of long text with a mark between them, about `bytesMax` bytes of UTF-8. Cuts at line ends
 * where there are some, and never inside a character. `bytes` is the UTF-8 of the text.
 */
export function cutText(bytes: Uint8Array, bytesMax: number, mark: (leftOutBytes: number) => string): string {
  const half = Math.floor(bytesMax / 2)
  const headEnd = characterStart(bytes, afterLine(bytes.lastIndexOf(lineFeed, half - 1), half / 2) ?? half)
  const lateStart = bytes.length - half
  const tailFeed = bytes.indexOf(lineFeed, lateStart)
  const isNear = tailFeed !== -1 && tailFeed < lateStart + half / 2
  const tailStart = characterStart(bytes, isNear ? tailFeed + 1 : lateStart)
  const decode = (from: number, to: number) =>
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(from, to))
  return `${decode(0, headEnd)}${mark(tailStart - headEnd)}${decode(tailStart, bytes.length)}`
}

const afterLine = (feed: number, atLeast: number): number | null => (feed + 1 > atLeast ? feed + 1 : null)

/** Returns `at`, moved back out of a character. */
function characterStart(bytes: Uint8Array, at: number): number {
  let start = at
  while (start > 0 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--
  return start
}
