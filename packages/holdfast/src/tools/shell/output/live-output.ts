import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '@holdfast/core/ports'

const batchMs = 50
const batchCharsMax = 64 * 1024

/** Shows output a few times a second, in whole characters. Drops output that comes too fast. */
export function createLiveOutput(show: (text: string) => void, after: Clock['after']) {
  const decoder = new StringDecoder('utf8')
  let waiting = ''
  let cancel: (() => void) | null = null

  const flush = () => {
    cancel?.()
    cancel = null
    if (waiting === '') return
    const text = waiting.length > batchCharsMax ? `[…]${waiting.slice(-batchCharsMax).toWellFormed()}` : waiting
    waiting = ''
    show(text)
  }

  return {
    add(bytes: Uint8Array): void {
      waiting += decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (waiting.length > 2 * batchCharsMax) waiting = waiting.slice(-batchCharsMax - 1)
      cancel ??= after(batchMs, flush)
    },
    /** Says that output was left out. */
    skip(): void {
      waiting = '[…]'
      cancel ??= after(batchMs, flush)
    },
    /** Shows the rest. */
    end(): void {
      waiting += decoder.end()
      flush()
    },
  }
}
