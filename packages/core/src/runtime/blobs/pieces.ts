const pieceBytes = 256 * 1024

/** Splits bytes, so that hashing a large file does not block the event loop. */
export function* piecesOf(bytes: Uint8Array): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
}
