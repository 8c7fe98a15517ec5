import type { UnderlyingSource } from 'node:stream/web'
import type { ServerDeps } from './route.ts'

const comment = new TextEncoder().encode(': holdfast\n\n')

/** When to come back to a stream that ended from here. */
export const comeBackMs = 1000

/** Why a stream may end from here, and its last word then. */
type Ending<One> = { readonly when: AbortSignal; readonly last: One }

export type EventStreamDeps<One> = Pick<ServerDeps, 'heartbeatMs' | 'onProblem'> & {
  /** What is followed, for whoever reads of a problem with it. */
  readonly name: string
  /** Follows until the signal aborts, which it does when the stream is over, whoever ended it. */
  readonly follow: (gone: AbortSignal) => AsyncIterable<One>
  readonly encode: (frame: One) => Uint8Array
  readonly endings: readonly Ending<One>[]
  /** The last word when what is followed breaks. */
  readonly failed: One
}

/**
 * Frames as a body that is pulled: the next frame is asked for only when the socket took the last one, so what a slow
 * client cannot take waits, and is bounded, where it comes from and nowhere else.
 */
export function openEventStream<One extends { readonly type: string }>(parts: EventStreamDeps<One>) {
  const { name, follow, encode, endings, failed, heartbeatMs, onProblem } = parts
  const gone = new AbortController()
  const frames = follow(gone.signal)[Symbol.asyncIterator]()

  let asked = false
  let arrived: One | 'done' | null = null
  let wake = () => {}
  const ask = () => {
    asked = true
    frames.next().then(
      (next) => {
        arrived = next.done ? 'done' : next.value
        wake()
      },
      (cause: unknown) => {
        onProblem({ where: `events of ${name}`, cause })
        arrived = failed
        wake()
      },
    )
  }
  const leave = () => {
    gone.abort()
    frames.return?.().catch(() => undefined) // it was told to stop; how it stops is its own affair
  }
  const lastWord = (): One | null => endings.find(({ when }) => when.aborted)?.last ?? null
  /** Until a frame is there, the stream is to end, or it is time to show that we live. */
  const pause = () =>
    new Promise<void>((resolve) => {
      const settle = () => {
        clearTimeout(timer)
        for (const { when } of endings) when.removeEventListener('abort', settle)
        wake = () => {}
        resolve()
      }
      const timer = setTimeout(settle, heartbeatMs)
      for (const { when } of endings) when.addEventListener('abort', settle)
      wake = settle
    })

  const source: UnderlyingSource<Uint8Array> = {
    start(controller) {
      ask() // before the first byte: whoever sees that we are there misses nothing from then on
      controller.enqueue(comment) // tells the client that it is in, before anything happens
    },

    async pull(controller) {
      if (!asked) ask()
      if (arrived === null && lastWord() === null) await pause()
      if (gone.signal.aborted) return
      const frame = arrived ?? lastWord()
      if (frame === null) return controller.enqueue(comment)
      if (frame !== 'done') controller.enqueue(encode(frame))
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

/** The answer that carries such a body. */
export function answerEventStream(body: ReadableStream<Uint8Array>): Response {
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'transfer-encoding': 'chunked', // what makes the adapter send the first bytes at once
    'x-accel-buffering': 'no',
    connection: 'close', // a stream that has ended leaves no idle socket for the server's close to wait for
  }
  return new Response(body, { headers })
}
