import type { FileHandle } from 'node:fs/promises'

const chunkBytes = 1024 * 1024
const lineBreak = 10

/**
 * Walks through the lines of a file a chunk at a time, and returns its size. `isEnded` is false for a last line without
 * its break. A line is valid only until the next one.
 */
export async function scanLines(
  file: FileHandle,
  onLine: (line: Buffer, offset: number, isEnded: boolean) => void,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let begun: Buffer[] = []
  let offset = 0
  let position = 0
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
    if (bytesRead === 0) break
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    let from = 0
    for (let end = read.indexOf(lineBreak); end !== -1; end = read.indexOf(lineBreak, from)) {
      const rest = read.subarray(from, end)
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      onLine(line, offset, true)
      begun = []
      offset += line.length + 1
      from = end + 1
    }
    if (from < bytesRead) begun.push(Buffer.from(read.subarray(from)))
  }
  if (begun.length > 0) onLine(Buffer.concat(begun), offset, false)
  return position
}
