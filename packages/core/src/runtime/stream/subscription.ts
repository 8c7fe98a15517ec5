import { type Frame, limits } from '@holdfast/protocol'
import type { DirectIterator } from './join-streams.ts'

/** The buffer of one subscriber: bounded, in order, read at the subscriber's pace. */
export interface Subscription extends AsyncIterable<Frame> {
  [Symbol.asyncIterator](): AsyncIterator<Frame> & DirectIterator<Frame>
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
  /** The reader that waits for a frame. There is one: a stream is read once at a time. */
  let reader: ((result: IteratorResult<Frame, undefined>) => void) | null = null
  /** Or it takes frames without a promise, and is only told that there may be one. */
  let wakeReader: (() => void) | null = null

  /** Returns what the reader gets now; null if it has to wait. */
  const take = (): IteratorResult<Frame, undefined> | null => {
    const next = waiting.shift()
    if (next) {
      bytes -= next.bytes
      return { done: false, value: next.frame }
    }
    if (owesDraft) {
      const frame = draft() // what is sent meanwhile is in the draft
      owesDraft = false
      if (frame) return { done: false, value: frame }
    }
    return isClosed ? over : null
  }
  const wake = () => {
    const tell = wakeReader
    wakeReader = null
    tell?.()
    const result = reader && take()
    if (!result) return
    reader?.(result)
    reader = null
  }
  const queue = (frame: Frame, size: number) => {
    waiting.push({ frame, bytes: size })
    bytes += size
    wake()
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
        wake()
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
      wake()
    },

    [Symbol.asyncIterator]: () => ({
      next(): Promise<IteratorResult<Frame, undefined>> {
        const now = take()
        if (now) return Promise.resolve(now)
        const { promise, resolve } = Promise.withResolvers<IteratorResult<Frame, undefined>>()
        reader = resolve
        return promise
      },
      takeNow(wake: () => void): Frame | 'wait' | 'next' {
        const now = take()
        if (now) return now.done ? 'next' : now.value
        wakeReader = wake
        return 'wait'
      },
    }),
  }
}

const over = { done: true, value: undefined } as const
