import type { SessionHandle } from '@holdfast/protocol'

/** Waits until a session rests, or until it asks for `asked` approvals at once. Returns which of both happened. */
export async function waitForRest(handle: SessionHandle, asked = 1): Promise<'rests' | 'asks'> {
  const leaving = new AbortController()
  try {
    for await (const frame of handle.subscribe({ signal: leaving.signal })) {
      if (frame.type !== 'snapshot' && frame.type !== 'record') continue
      const snapshot = await handle.snapshot()
      if (!snapshot.ok) throw new Error(snapshot.fault.message)
      const { activity, pendingApprovals } = snapshot.value.view
      if (activity === 'idle' || activity === 'error') return 'rests'
      if (pendingApprovals.length >= asked) return 'asks'
    }
    throw new Error('the stream ended')
  } finally {
    leaving.abort()
  }
}
