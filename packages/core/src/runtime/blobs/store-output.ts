import { type Fault, HoldfastError, limits, type Output, ok, type Result } from '@holdfast/protocol'
import type { Blobs } from '../../ports/store/blobs.ts'
import type { SessionStorage } from '../storage-health.ts'

type Bytes = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const headBytes = limits.toolOutputHeadBytes
/** How much of an output stays in memory in case its blob is refused by a full disk and must be written again. */
const heldBytesMax = 1024 * 1024

/**
 * Stores the output of a tool: short output inline, long output in a blob, with its head and tail shown. `toText` turns
 * output into what is shown, such as that of a terminal; the bytes are then stored if it changes them. Head and tail have
 * `inlineBytesMax` bytes together.
 */
export async function storeOutput(
  blobs: Pick<Blobs, 'put'>,
  output: Bytes,
  insist: SessionStorage['insist'] = (write) => write(),
  toText: (text: string) => string = (text) => text,
  inlineBytesMax: number = limits.toolOutputInlineBytesMax,
): Promise<Output> {
  const tailBytes = inlineBytesMax - headBytes
  const source = iterate(output)
  const held: Uint8Array[] = []
  let bytes = 0
  let tail: Uint8Array = new Uint8Array()
  let isHeld = true

  /** Reads the next new chunk. */
  async function read(): Promise<Uint8Array | null> {
    const next = await source.next()
    if (next.done) return null
    bytes += next.value.length
    tail = Buffer.concat([tail, next.value]).subarray(-tailBytes)
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

  while (bytes <= inlineBytesMax) {
    const next = await read()
    if (next === null) return storeShort(blobs, Buffer.concat(held), insist, toText)
    held.push(next)
  }
  const head = Buffer.concat(held).subarray(0, headBytes)
  const shown = (marker: string) =>
    `${toText(decode(head))}\n[… ${bytes - head.length - tail.length} bytes left out; ${marker} …]\n${toText(decode(tail))}`

  const put = await insist(async (): Promise<Result<NonNullable<Output['blob']> | { readonly lost: Fault }>> => {
    const written = await blobs.put(fromTheBeginning())
    // The beginning is no longer in memory, so the blob cannot be written again: only head and tail remain.
    return written.ok || isHeld || written.fault.code !== 'storage_error' ? written : ok({ lost: written.fault })
  })
  if (!put.ok) throw new HoldfastError(put.fault)
  if (!('lost' in put.value)) return { text: shown(`the whole output is kept as ${put.value.hash}`), blob: put.value }
  for (let next = await read(); next !== null; ) next = await read()
  return { text: shown(`they could not be kept: ${put.value.lost.message}`) }
}

/** Returns short output. Its bytes are stored if the text no longer holds all of them. */
async function storeShort(
  blobs: Pick<Blobs, 'put'>,
  bytes: Uint8Array,
  insist: SessionStorage['insist'],
  toText: (text: string) => string,
): Promise<Output> {
  const raw = decode(bytes)
  const text = toText(raw)
  if (text === raw) return { text }
  const put = await insist(() => blobs.put([bytes]))
  if (!put.ok) throw new HoldfastError(put.fault)
  return { text, blob: put.value }
}

async function* iterate(output: Bytes): AsyncGenerator<Uint8Array> {
  yield* output
}

/** Decodes UTF-8; invalid bytes and cut characters are replaced. */
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
