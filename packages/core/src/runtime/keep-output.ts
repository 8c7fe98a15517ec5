import { HoldfastError, limits, type Output } from '@holdfast/protocol'
import type { Blobs } from '../ports/blobs.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const endBytes = limits.toolOutputInlineBytesMax / 2

/** Short output is kept inline. Long output streams into a blob and is never held whole: head and tail are shown. */
export async function keepOutput(blobs: Blobs, output: Bytes): Promise<Output> {
  const source = iterate(output)
  const held: Uint8Array[] = []
  let bytes = 0
  for (;;) {
    const next = await source.next()
    if (next.done) return { text: decode(Buffer.concat(held)) }
    held.push(next.value)
    bytes += next.value.length
    if (bytes > limits.toolOutputInlineBytesMax) break
  }

  const head = Buffer.concat(held).subarray(0, endBytes)
  let tail = Buffer.concat(held).subarray(-endBytes)
  const put = await blobs.put(
    (async function* () {
      yield* held
      for await (const chunk of source) {
        tail = Buffer.concat([tail, chunk]).subarray(-endBytes)
        yield chunk
      }
    })(),
  )
  if (!put.ok) throw new HoldfastError(put.fault)
  const cut = put.value.bytes - head.length - tail.length
  const marker = `\n[… ${cut} bytes left out; the whole output is kept as ${put.value.hash} …]\n`
  return { text: decode(head) + marker + decode(tail), blob: put.value }
}

async function* iterate(output: Bytes): AsyncGenerator<Uint8Array> {
  yield* output
}

/** Text, with what is not UTF-8 and the halves of a cut character replaced. */
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
