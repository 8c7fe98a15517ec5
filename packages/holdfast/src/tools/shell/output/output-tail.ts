import { limits } from '@holdfast/protocol'
import { keyHeldBack, maskKeys } from '../../../system/secrets/known-keys.ts'
import type { OutputFile } from './output-file.ts'
import { readableOutput } from './readable-output.ts'

/** Read before the tail, so that a key at its start is seen as a whole and masked. */
const beforeTailBytes = 4096
const utf8BytesMax = 4

/** The end of an output. `isCut` says that something was printed before it. */
export type OutputTail = { readonly text: string; readonly isCut: boolean }

/** Returns the end of what a command has printed so far, as a terminal would show it. Known keys are masked. */
export async function readTail(output: Pick<OutputFile, 'read'>, sizeBytes: number): Promise<OutputTail> {
  const start = Math.max(0, sizeBytes - limits.backgroundTailCharsMax * utf8BytesMax - beforeTailBytes)
  const bytes = Buffer.concat(await Array.fromAsync(output.read(start, sizeBytes), (piece) => Buffer.from(piece)))
  const text = bytes.toString('utf8')
  // The end of the text may be the first half of a key: it is shown once the rest has come.
  const masked = maskKeys(text.slice(0, text.length - keyHeldBack(text)))
  const readable = readableOutput(masked)
  const tail = lastLines(readable)
  return { text: tail, isCut: start > 0 || tail.length < readable.length }
}

function lastLines(text: string): string {
  if (text.length <= limits.backgroundTailCharsMax) return text
  const tail = text.slice(-limits.backgroundTailCharsMax)
  return tail.slice(tail.indexOf('\n') + 1).toWellFormed() // from its start if it is one line
}
