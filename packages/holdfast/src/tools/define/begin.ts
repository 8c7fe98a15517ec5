import type { ToolResult, ToolRun } from '@holdfast/core/ports'
import type { ProcessMark } from '@holdfast/protocol'

/**
 * Waits until the intent is on stable storage. False when the call was aborted meanwhile: a disk that is stuck must not
 * hold an abort up. Rejects as `begin` does.
 */
export async function begun({ signal, begin }: ToolRun, process?: ProcessMark): Promise<boolean> {
  if (signal.aborted) return false
  const aborted = Promise.withResolvers<false>()
  const abort = () => aborted.resolve(false)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([begin(process).then(() => !signal.aborted), aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export const abortedResult: ToolResult = { type: 'failed', output: { text: 'aborted' } }
