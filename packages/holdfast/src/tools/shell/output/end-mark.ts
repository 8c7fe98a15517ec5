import type { OutputFile } from './output-file.ts'

/**
 * Returns where `mark` begins in the output, or null if it is not there yet. A command's leader writes the mark after the
 * command has ended, through the same pipe: what is before it is all that the command itself has written.
 */
export async function findEndMark(output: OutputFile, mark: string, start: number): Promise<number | null> {
  const bytes = Buffer.from(mark)
  let position = start
  let held = Buffer.alloc(0)
  for await (const piece of output.read(start)) {
    const text = Buffer.concat([held, piece])
    const at = text.indexOf(bytes)
    if (at !== -1) return position + at
    held = text.subarray(Math.max(0, text.length - bytes.length + 1))
    position += text.length - held.length
  }
  return null
}

/** Returns how many bytes at the start of `piece` surely belong to the output: the mark, or the start of it, does not. */
export function bytesBeforeMark(piece: Buffer, mark: string): { readonly bytes: number; readonly isMarked: boolean } {
  const whole = piece.indexOf(mark)
  if (whole !== -1) return { bytes: whole, isMarked: true }
  for (let length = Math.min(mark.length - 1, piece.length); length > 0; length--)
    if (piece.subarray(piece.length - length).equals(Buffer.from(mark.slice(0, length))))
      return { bytes: piece.length - length, isMarked: false }
  return { bytes: piece.length, isMarked: false }
}
