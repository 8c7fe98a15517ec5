import type { Frame } from '@holdfast/protocol'
import { reconnectMs } from './event-stream.ts'
import type { Following } from './follow-session.ts'
import type { Outbox } from './outbox.ts'

export type Lock = ReturnType<typeof createLock>

const nothing: () => void = () => undefined

/** Creates a lock for one at a time, in the order in which they ask. */
export function createLock() {
  const waiting = new Set<() => void>()
  let isTaken = false
  const free = () => {
    const [next] = waiting
    if (next) next()
    else isTaken = false
  }
  const waitInLine = (over: AbortSignal): Promise<boolean> =>
    new Promise((resolve) => {
      const end = (isMine: boolean) => {
        waiting.delete(take)
        over.removeEventListener('abort', giveUp)
        resolve(isMine)
      }
      const take = () => end(true)
      const giveUp = () => end(false)
      waiting.add(take)
      over.addEventListener('abort', giveUp)
      if (over.aborted) giveUp()
    })

  /** Waits for the lock, or until `over` aborts. The returned function gives it back. */
  return async (over: AbortSignal): Promise<() => void> => {
    if (isTaken && !(await waitInLine(over))) return nothing
    isTaken = true
    return onlyOnce(free)
  }
}

/**
 * Yields the frames of a session on a connection that carries others too. One of them at a time reads its past, and the others
 * hold nothing yet: for a client that does not read, there is one page of the log, however many sessions it follows.
 */
export async function* followOnShared(
  { frames, after: cursor, began, end }: Following,
  lockPast: Lock,
  { enter }: Pick<Outbox, 'enter'>,
  over: AbortSignal,
): AsyncGenerator<Frame> {
  began() // the lock may take long: its client may not read
  for (let after = cursor, isBehind = true; isBehind; ) {
    const unlock = await lockPast(over)
    let leavePlace = nothing
    try {
      if (over.aborted) return
      const place = await enter('stream')
      if (!place.ok) return yield end('failed', reconnectMs)
      leavePlace = onlyOnce(place.value)
      isBehind = false
      for await (const frame of frames(over, { cursor: after })) {
        leavePlace()
        if (frame.type === 'end' && frame.reason === 'slow') {
          isBehind = true
          break
        }
        if (frame.type === 'snapshot') after = frame.seq
        if (frame.type === 'record') after = frame.record.seq
        if (!isOfPast(frame)) unlock()
        yield frame
        if (frame.type === 'snapshot') unlock() // it is sent
      }
    } finally {
      leavePlace()
      unlock()
    }
  }
}

const isOfPast = ({ type }: Frame): boolean => type === 'record' || type === 'snapshot' || type === 'resync'

function onlyOnce(run: () => void): () => void {
  let isRun = false
  return () => {
    if (!isRun) run()
    isRun = true
  }
}
