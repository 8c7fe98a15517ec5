import type { FileHandle } from 'node:fs/promises'

const chunkBytes = 1024 * 1024
const lineBreak = 10

/**
 * Walks through the lines of a file a chunk at a time, from where one begins, and returns its size. `isEnded` is false for a last line without
 * its break. A line is valid only until the next one.
 */
export async function scanLines(
  file: FileHandle,
  onLine: (line: Buffer, offset: number, isEnded: boolean) => void,
  from = 0,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let begun: Buffer[] = []
  let [offset, position] = [from, from]
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
    if (bytesRead === 0) break
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    let begin = 0
    for (let end = read.indexOf(lineBreak); end !== -1; end = read.indexOf(lineBreak, begin)) {
      const rest = read.subarray(begin, end)
      const line = begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      onLine(line, offset, true)
      begun = []
      offset += line.length + 1
      begin = end + 1
    }
    if (begin < bytesRead) begun.push(Buffer.from(read.subarray(begin)))
  }
  if (begun.length > 0) onLine(Buffer.concat(begun), offset, false)
  return position
}
