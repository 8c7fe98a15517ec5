import { type Fault, fault, type SessionId } from '@holdfast/protocol'
import type { Clock } from '../../ports/clock.ts'

/** How often the owner of a session is looked up again; with the pauses below about five seconds. */
export const lookUpsMax = 23

/** Never aborts. */
export const noSignal: AbortSignal = new AbortController().signal

/** Waits before the next look-up: not at all the first time, then ever longer, a quarter of a second at most. */
export function pauseBefore(clock: Clock, lookUp: number, signal?: AbortSignal): Promise<void> {
  if (lookUp === 0 || signal?.aborted) return Promise.resolve()
  const delayMs = Math.min(25 * 2 ** lookUp, 250)
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(delayMs, end, { keepsAlive: true })
    signal?.addEventListener('abort', end)
  })
}

/**
 * Returns the refusal if the owner of a session lives and could not be reached for some seconds. In a cluster the same
 * request may succeed soon, here or at another node.
 */
export function ownerUnreachable(id: SessionId, { code, details }: Fault, isCluster: boolean): Fault {
  const { node, since } = details ?? {}
  if (isCluster) {
    const message = `Session ${id} is at the node ${node ?? 'unknown'}, which cannot be reached from here. Send it again soon.`
    return fault('unreachable', message, { node, since, retryAfterSeconds: 1 })
  }
  const message = `Session ${id} is open in another process (${node ?? 'unknown'}), which cannot be reached. End that process, or try again.`
  return fault('session_locked', message, { node, since, ...(code !== 'session_locked' && { cause: code }) })
}
