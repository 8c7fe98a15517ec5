import { createInterface } from 'node:readline'
import { limits } from '@holdfast/protocol'
import type { Input } from '../terminal/prompt-user.ts'

/** Reads lines until `signal` aborts or the input ends, and handles them one after the other. Resolves once all are handled. */
export async function readLines(
  input: Input,
  signal: AbortSignal,
  handle: (line: string) => Promise<void>,
): Promise<void> {
  if (signal.aborted) return
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY, terminal: false })
  const close = () => lines.close()
  signal.addEventListener('abort', close)
  try {
    for await (const line of lines) {
      if (signal.aborted) return
      await handle(line.slice(0, limits.promptBytesMax))
    }
    if (input.isTTY && !signal.aborted) await handle('/leave')
  } finally {
    signal.removeEventListener('abort', close)
    input.pause()
  }
}
