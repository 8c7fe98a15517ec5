import type { UnderlyingSource } from 'node:stream/web'
import {
  type ClientId,
  encodeFrame,
  type Frame,
  type FrameOf,
  type Role,
  type Seq,
  type SessionHandle,
} from '@holdfast/protocol'
import type { ServerParts } from './server-parts.ts'

const comment = new TextEncoder().encode(': holdfast\n\n')
const comeBackMs = 1000

export type EventStreamParts = Pick<ServerParts, 'heartbeatMs' | 'closing' | 'onProblem'> & {
  readonly handle: SessionHandle
  readonly after: Seq | undefined
  readonly client: ClientId | undefined
  readonly role: Role | undefined
}

/**
 * The frames of a session as a body that is pulled: the next frame is asked for only when the socket took the last
 * one, so what a slow client cannot take waits, and is bounded, in the session's hub and nowhere else.
 */
export function openEventStream({ handle, after, client, role, heartbeatMs, closing, onProblem }: EventStreamParts) {
  const gone = new AbortController()
  const frames = handle.subscribe({ after, client, role, signal: gone.signal })[Symbol.asyncIterator]()
  const end = (reason: FrameOf<'end'>['reason']): Frame => ({
    type: 'end',
    sessionId: handle.id,
    reason,
    retryMs: comeBackMs,
  })

  let asked = false
  let arrived: Frame | 'done' | null = null
  let wake = () => {}
  const ask = () => {
    asked = true
    frames.next().then(
      (next) => {
        arrived = next.done ? 'done' : next.value
        wake()
      },
      (cause: unknown) => {
        onProblem({ where: `events of ${handle.id}`, cause })
        arrived = end('failed')
        wake()
      },
    )
  }
  const leave = () => {
    gone.abort()
    frames.return?.().catch(() => undefined) // it was told to stop; how it stops is its own affair
  }
  /** Until a frame is there, the server closes, or it is time to show that we live. */
  const pause = () =>
    new Promise<void>((resolve) => {
      const settle = () => {
        clearTimeout(timer)
        closing.removeEventListener('abort', settle)
        wake = () => {}
        resolve()
      }
      const timer = setTimeout(settle, heartbeatMs)
      closing.addEventListener('abort', settle)
      wake = settle
    })

  const source: UnderlyingSource<Uint8Array> = {
    start(controller) {
      controller.enqueue(comment) // tells the client that it is in, before anything happens
    },

    async pull(controller) {
      if (!asked) ask()
      if (arrived === null && !closing.aborted) await pause()
      if (gone.signal.aborted) return
      const frame = arrived ?? (closing.aborted ? end('closing') : null)
      if (frame === null) return controller.enqueue(comment)
      if (frame !== 'done') controller.enqueue(encodeFrame(frame))
      if (frame === 'done' || frame.type === 'end') {
        leave()
        return controller.close()
      }
      arrived = null
      asked = false
    },

    cancel() {
      leave()
      wake()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}
