import { type Fault, HoldfastError, limits, type Output, ok, type Result } from '@holdfast/protocol'
import type { Blobs } from '../../ports/blobs.ts'
import type { SessionStorage } from '../storage-health.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const endBytes = limits.toolOutputInlineBytesMax / 2
/** How much of an output is held in case its blob is refused for want of room, and has to be written again. */
const heldBytesMax = 1024 * 1024

/** Short output is kept inline. Long output streams into a blob and is never held whole: head and tail are shown. */
export async function storeOutput(
  blobs: Blobs,
  output: Bytes,
  insist: SessionStorage['insist'] = (write) => write(),
): Promise<Output> {
  const source = iterate(output)
  const held: Uint8Array[] = []
  let bytes = 0
  let tail: Uint8Array = new Uint8Array()
  let isHeld = true

  /** The next piece, which nobody had before. */
  async function read(): Promise<Uint8Array | null> {
    const next = await source.next()
    if (next.done) return null
    bytes += next.value.length
    tail = Buffer.concat([tail, next.value]).subarray(-endBytes)
    return next.value
  }
  async function* fromTheBeginning(): AsyncGenerator<Uint8Array> {
    yield* [...held]
    for (let next = await read(); next !== null; next = await read()) {
      isHeld &&= bytes <= heldBytesMax
      if (isHeld) held.push(next)
      yield next
    }
  }

  while (bytes <= limits.toolOutputInlineBytesMax) {
    const next = await read()
    if (next === null) return { text: decode(Buffer.concat(held)) }
    held.push(next)
  }
  const head = Buffer.concat(held).subarray(0, endBytes)
  const shown = (marker: string) =>
    `${decode(head)}\n[… ${bytes - head.length - tail.length} bytes left out; ${marker} …]\n${decode(tail)}`

  const put = await insist(async (): Promise<Result<NonNullable<Output['blob']> | { readonly lost: Fault }>> => {
    const written = await blobs.put(fromTheBeginning())
    // With its beginning gone it cannot be written again: what is at hand is all there will be of it.
    return written.ok || isHeld || written.fault.code !== 'storage_error' ? written : ok({ lost: written.fault })
  })
  if (!put.ok) throw new HoldfastError(put.fault)
  if (!('lost' in put.value)) return { text: shown(`the whole output is kept as ${put.value.hash}`), blob: put.value }
  for (let next = await read(); next !== null; ) next = await read()
  return { text: shown(`they could not be kept: ${put.value.lost.message}`) }
}

async function* iterate(output: Bytes): AsyncGenerator<Uint8Array> {
  yield* output
}

/** Text, with what is not UTF-8 and the halves of a cut character replaced. */
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
