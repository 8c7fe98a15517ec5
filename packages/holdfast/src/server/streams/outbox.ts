import type { Socket } from 'node:net'
import { type DirectIterator, takeNow } from '@holdfast/core'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { createPlaces, createSlicePlace, createSlices } from './slices.ts'

/**
 * How many answers are built at once. A page costs up to `limits.pageBytesMax`; streams share their snapshots. An
 * export may fold the log before its first piece. A part is what a stream reads from the log for itself alone, a page of
 * records at a time.
 */
const builtAtOnceMax = { page: 1, stream: 16, export: 1, part: 3 } as const
/** Parts that streams write in one slice: the system takes up to a millisecond for each. */
export const partsPerSlice = 8
/** So many short frames, such as deltas, are written in the time of one part: 256 in a slice take 2 to 4 milliseconds. */
const framesPerPart = 32
/** And so many by one stream, if more are there: 512 in a slice at most. */
const framesAtOnce = 2
const shortFrameBytes = 4096
const retryAfterSeconds = 5
const pauseMs = 100

/** The bytes that all connections hold are counted again after one read for so many connections. */
const connectionsPerRead = 16

/** Share of the limit up to which streams read for themselves alone. The rest is for everyone else. */
const privateShare = 0.5

type OutboxDeps = {
  /** Returns the open connections. */
  readonly connections: () => Iterable<Pick<Socket, 'writableLength'>>
  readonly bytesMax?: number | undefined
  /** Calls back in the next slice, so that other requests come between. */
  readonly nextSlice?: (go: () => void) => void
  /** Waits before the held bytes are counted again. */
  readonly pause?: () => Promise<void>
}

export type Outbox = ReturnType<typeof createOutbox>

/** A piece that was read for one stream alone: its record, its text and its bytes. */
export const privateCopies = 3

/** Bounds what a server holds for its clients: answers that are being built, and bytes that were not taken yet. */
export function createOutbox({
  connections,
  bytesMax = limits.serverBufferBytesMax,
  nextSlice = setImmediate,
  pause = () => new Promise((resolve) => setTimeout(resolve, pauseMs)),
}: OutboxDeps) {
  /** Pieces that streams are sending. */
  const held = new Map<Uint8Array, { streams: number; readonly bytes: number }>()
  let heldBytes = 0
  const slices = createSlices(partsPerSlice * framesPerPart)
  const places = {
    page: createPlaces(builtAtOnceMax.page, nextSlice),
    stream: createPlaces(builtAtOnceMax.stream, nextSlice),
    export: createPlaces(builtAtOnceMax.export, nextSlice),
    part: createPlaces(builtAtOnceMax.part, nextSlice),
  }

  const bytes = (): number => {
    let total = heldBytes
    for (const { writableLength } of connections()) total += writableLength
    return total
  }

  /** Returns the bytes of a moment ago: to look at all connections for each record of each stream would take longer than the rest. */
  const recentBytes = (() => {
    let [known, readsLeft] = [0, 0]
    return (): number => {
      if (readsLeft > 0) {
        readsLeft -= 1
        return known
      }
      let count = 0
      known = heldBytes
      for (const { writableLength } of connections()) {
        known += writableLength
        count += 1
      }
      readsLeft = Math.floor(count / connectionsPerRead)
      return known
    }
  })()

  return {
    bytes,

    /** Waits for a place to build an answer. Call the returned function once, when the answer is built. Refused: server_busy. */
    async enter(kind: Exclude<keyof typeof places, 'part'>): Promise<Result<() => void>> {
      const { take, leave } = places[kind]
      await take()
      if (bytes() <= bytesMax) return ok(leave)
      leave()
      const message = 'The server holds too much for clients that do not read. Try again in a few seconds.'
      return refuse(fault('server_busy', message, { retryAfterSeconds, bytesMax }))
    },

    /**
     * Yields what `source` yields. Reads in a place of its own and only below its share of the limit, up to the first item
     * that `isLast` accepts. A place is for one slice, or longer until an item is there: a page of the log
     * has many. Reads no more once `gone` has aborted.
     */
    readInSlices<Item>(
      source: AsyncIterable<Item>,
      gone: AbortSignal,
      isLast: (item: Item) => boolean = () => false,
    ): AsyncIterableIterator<Item> & DirectIterator<Item> {
      const items = source[Symbol.asyncIterator]()
      const place = createSlicePlace(places.part, nextSlice)
      const read = async (): Promise<IteratorResult<Item>> => {
        await place.enter()
        try {
          while (recentBytes() > bytesMax * privateShare && !gone.aborted) await pause()
          return gone.aborted ? over : await items.next()
        } finally {
          place.pause()
        }
      }
      const end = async (): Promise<IteratorResult<Item>> => {
        await items.return?.()
        return over
      }
      let isPassed = false
      const readNext = async (): Promise<IteratorResult<Item>> => {
        const next = await read()
        if (next.done) return end()
        isPassed = isLast(next.value)
        return next
      }
      // What all streams share follows, and passes as it is.
      return {
        next: () => (isPassed ? items.next() : readNext()),
        takeNow: (wake) => (isPassed ? takeNow(items, wake) : 'next'),
        return: end,
        [Symbol.asyncIterator]() {
          return this
        },
      }
    },

    /** Waits for a slice to write one part in: many connections write few parts at a time. */
    slice: (): Promise<void> => new Promise((go) => slices.run(go, framesPerPart)),

    /** Opens the slices of one stream: a frame that all viewers get at once is written to few of them at a time. */
    openSlices() {
      let current = -1
      let left = 0
      const takeSlice = () => {
        current = slices.current()
        left = framesAtOnce
      }
      return {
        /** Calls back when the stream may write some short frames. */
        run(write: () => void): void {
          slices.run(() => {
            takeSlice()
            write()
          })
        },
        /** Waits for a slice to write so many bytes in. Returns null if the stream has it and may write another short frame. */
        wait(bytes: number): Promise<void> | null {
          const isShort = bytes <= shortFrameBytes
          if (isShort && left > 0 && current === slices.current()) {
            left -= 1
            return null
          }
          return new Promise((go) => {
            const take = () => {
              takeSlice()
              go()
            }
            slices.run(take, isShort ? 1 : framesPerPart)
          })
        },
      }
    },

    /**
     * Counts bytes that a stream sends, once for all its streams, with the copies that its source keeps meanwhile. Call
     * the returned function when they are sent.
     */
    hold(piece: Uint8Array, copies = 1): () => void {
      const known = held.get(piece)
      const one = known ?? { streams: 0, bytes: piece.byteLength * copies }
      if (!known) heldBytes += one.bytes
      one.streams += 1
      held.set(piece, one)
      return () => {
        one.streams -= 1
        if (one.streams > 0) return
        held.delete(piece)
        heldBytes -= one.bytes
      }
    },
  }
}

const over = { done: true, value: undefined } as const
