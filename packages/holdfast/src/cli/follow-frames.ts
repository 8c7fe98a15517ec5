import type { FollowOptions } from '@holdfast/client'
import type { Frame, Seq, SessionHandle } from '@holdfast/protocol'

/**
 * A session's frames after `after`, across the cuts that a slow reader suffers. Ends, with the `end` frame, only where
 * there is no point in coming back. `onLink` hears when a server is lost that is being looked for, and found again.
 */
export async function* followFrames(
  handle: SessionHandle,
  after: Seq,
  signal: AbortSignal,
  onLink: (isLost: boolean) => void = () => undefined,
): AsyncGenerator<Frame> {
  let cursor = after
  const onConnection: FollowOptions['onConnection'] = ({ state }) => {
    if (state === 'waiting' || state === 'live') onLink(state === 'waiting')
  }
  while (!signal.aborted) {
    let isCut = false
    const options: FollowOptions = { after: cursor, signal, onConnection }
    for await (const frame of handle.subscribe(options)) {
      if (frame.type === 'record') cursor = frame.record.seq
      isCut = frame.type === 'end' && frame.reason === 'slow'
      if (!isCut) yield frame
    }
    if (!isCut) return
  }
}
