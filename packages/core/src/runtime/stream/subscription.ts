import { type Frame, limits } from '@holdfast/protocol'

/** The buffer of one subscriber: bounded, in order, read at the subscriber's pace. */
export interface Subscription extends AsyncIterable<Frame> {
  /** Queues a frame of about `bytes`; returns false once the subscriber is cut off. */
  push(frame: Frame, bytes: number): boolean
  /** Queues a last frame and ends after it. */
  end(frame: Frame): void
  close(): void
}

type Waiting = { readonly frame: Frame; readonly bytes: number }

/** Merges the deltas of a slow client into one draft; if its records alone are too many, the client is cut off. */
export function createSubscription(draft: () => Frame | null, cut: () => Frame): Subscription {
  let waiting: Waiting[] = []
  let bytes = 0
  let owesDraft = false
  let isClosed = false
  let wake: (() => void) | null = null

  const queue = (frame: Frame, size: number) => {
    waiting.push({ frame, bytes: size })
    bytes += size
    wake?.()
  }
  const drop = (isObsolete: (frame: Frame) => boolean) => {
    if (!waiting.some((one) => isObsolete(one.frame))) return
    waiting = waiting.filter((one) => !isObsolete(one.frame))
    bytes = waiting.reduce((sum, one) => sum + one.bytes, 0)
  }
  const clear = () => {
    waiting = []
    bytes = 0
    owesDraft = false
  }

  return {
    push(frame, size) {
      if (isClosed) return false
      const isLive = frame.type === 'delta' || frame.type === 'draft'
      if (isLive && owesDraft) return true // the draft will contain this too
      if (isLive && bytes + size > limits.frameBufferBytesMax / 2) {
        drop((one) => one.type === 'delta' || one.type === 'draft')
        owesDraft = true
        wake?.()
        return true
      }
      if (frame.type === 'presence') drop((one) => one.type === 'presence') // only the newest counts
      if (bytes + size > limits.frameBufferBytesMax) {
        clear()
        isClosed = true
        queue(cut(), 0)
        return false
      }
      queue(frame, size)
      return true
    },

    end(frame) {
      if (isClosed) return
      isClosed = true
      owesDraft = false // nothing is sent after the end
      queue(frame, 0)
    },

    close() {
      isClosed = true
      clear()
      wake?.()
    },

    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift()
        if (next) {
          bytes -= next.bytes
          yield next.frame
        } else if (owesDraft) {
          const frame = draft() // what is sent meanwhile is in the draft
          owesDraft = false
          if (frame) yield frame
        } else if (isClosed) return
        else {
          const more = Promise.withResolvers<void>()
          wake = more.resolve
          await more.promise
          wake = null
        }
      }
    },
  }
}
