import type { Frame, Seq, SessionHandle } from '@holdfast/protocol'

/**
 * A session's frames after `after`, across the cuts that a slow reader suffers. Ends, with the `end` frame, only where
 * there is no point in coming back.
 */
export async function* followFrames(handle: SessionHandle, after: Seq, signal: AbortSignal): AsyncGenerator<Frame> {
  let cursor = after
  while (!signal.aborted) {
    let mayReturn = false
    for await (const frame of handle.subscribe({ after: cursor, signal })) {
      if (frame.type === 'record') cursor = frame.record.seq
      mayReturn = frame.type === 'end' && frame.retryMs !== null && frame.reason === 'slow'
      if (!mayReturn) yield frame
    }
    if (!mayReturn) return
  }
}
