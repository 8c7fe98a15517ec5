import type { FileHandle } from 'node:fs/promises'

const chunkBytes = 1024 * 1024
const lineBreak = 10

/**
 * Calls `onLine` for each line of a file from `from` on, reading one chunk at a time. Returns the file's size. `isEnded`
 * is false for a last line without a line break. The line's buffer is valid only during the call.
 */
export async function scanLines(
  file: FileHandle,
  onLine: (line: Buffer, offset: number, isEnded: boolean) => void,
  from = 0,
): Promise<number> {
  const chunk = Buffer.allocUnsafe(chunkBytes)
  let partial: Buffer[] = []
  let [offset, position] = [from, from]
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunkBytes, position)
    if (bytesRead === 0) break
    position += bytesRead
    const read = chunk.subarray(0, bytesRead)
    let begin = 0
    for (let end = read.indexOf(lineBreak); end !== -1; end = read.indexOf(lineBreak, begin)) {
      const rest = read.subarray(begin, end)
      const line = partial.length === 0 ? rest : Buffer.concat([...partial, rest])
      onLine(line, offset, true)
      partial = []
      offset += line.length + 1
      begin = end + 1
    }
    if (begin < bytesRead) partial.push(Buffer.from(read.subarray(begin)))
  }
  if (partial.length > 0) onLine(Buffer.concat(partial), offset, false)
  return position
}
