import { addToView, type FrameOf, type Seq, type SessionHandle, type SessionView } from '@holdfast/protocol'

/**
 * Stays until the session owes nothing that this process would have to do: it rests, or every open call waits for a
 * person. `reached` is the seq it must at least have come to; the answer is how it stands then.
 */
export async function untilRest(
  handle: SessionHandle,
  { seq, view: start }: FrameOf<'snapshot'>,
  reached: Seq,
  signal: AbortSignal,
): Promise<SessionView> {
  let view = start
  if (seq >= reached && isResting(view)) return view
  const leave = new AbortController()
  try {
    const until = AbortSignal.any([signal, leave.signal])
    for await (const frame of handle.subscribe({ after: seq, signal: until })) {
      if (frame.type !== 'record') continue
      view = addToView(view, frame.record)
      if (frame.record.seq >= reached && isResting(view)) break
    }
    return view
  } finally {
    leave.abort()
  }
}

const isResting = ({ activity, pendingApprovals, activeToolCalls }: SessionView): boolean =>
  activity === 'idle' ||
  activity === 'error' ||
  (pendingApprovals.length > 0 && pendingApprovals.length === activeToolCalls.length)
