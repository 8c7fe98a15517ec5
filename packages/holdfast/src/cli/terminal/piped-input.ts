import { fault } from '@holdfast/protocol/fault'
import { limits } from '@holdfast/protocol/limits'
import { failWith } from './exit.ts'
import type { Input } from './prompt-user.ts'

/** How long a pipe may stay silent before its first byte: programs often leave one open that nobody writes to. */
const silentMs = 3000

/** Returns all of the input as text. */
export async function readInput(input: Input): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input as AsyncIterable<Uint8Array>) {
    bytes += chunk.length // standard input without an encoding gives bytes
    if (bytes > limits.promptBytesMax)
      return failWith(fault('too_large', `The prompt is larger than ${limits.promptBytesMax} bytes. Shorten it.`))
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Returns what is piped in, or null if nothing is: at a terminal, or if the pipe stays open and silent. */
export async function readIfPiped(input: Input): Promise<string | null> {
  if (input.isTTY || !(await hasBegun(input))) return null
  return readInput(input)
}

/** Waits for the first byte or the end of the input, but not for ever. */
async function hasBegun(input: Input): Promise<boolean> {
  const begun = Promise.withResolvers<boolean>()
  const onBegun = () => begun.resolve(true)
  const timer = setTimeout(() => begun.resolve(false), silentMs)
  input.once('readable', onBegun).once('end', onBegun).once('error', onBegun)
  const isBegun = await begun.promise
  clearTimeout(timer)
  input.off('readable', onBegun).off('end', onBegun).off('error', onBegun)
  return isBegun
}
