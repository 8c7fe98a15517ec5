import { StringDecoder } from 'node:string_decoder'
import type { After } from './after.ts'

const batchMs = 50
const batchCharsMax = 64 * 1024

export interface LiveOutput {
  add(bytes: Uint8Array): void
  /** Shows the rest. */
  end(): void
}

/** Shows output a few times a second, in whole characters. Drops output that comes too fast. */
export function createLiveOutput(show: (text: string) => void, after: After): LiveOutput {
  const decoder = new StringDecoder('utf8')
  let waiting = ''
  let takeBack: (() => void) | null = null

  const flush = () => {
    takeBack?.()
    takeBack = null
    if (waiting === '') return
    const text = waiting.length > batchCharsMax ? `[…]${waiting.slice(-batchCharsMax).toWellFormed()}` : waiting
    waiting = ''
    show(text)
  }

  return {
    add(bytes) {
      waiting += decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
      if (waiting.length > 2 * batchCharsMax) waiting = waiting.slice(-batchCharsMax - 1)
      takeBack ??= after(batchMs, flush)
    },
    end() {
      waiting += decoder.end()
      flush()
    },
  }
}
