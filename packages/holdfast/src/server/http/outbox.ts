import type { Socket } from 'node:net'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'

/** How many answers are built at once. A page costs up to `limits.pageBytesMax`; streams share their snapshots. */
const builtAtOnceMax = { page: 1, stream: 16 } as const
const retryAfterSeconds = 5

type OutboxDeps = {
  /** Returns the open connections. */
  readonly connections: () => Iterable<Pick<Socket, 'writableLength'>>
  readonly bytesMax?: number | undefined
  /** Calls back after the event loop has turned, so that other requests come between. */
  readonly nextTurn?: (go: () => void) => void
}

export type Outbox = ReturnType<typeof createOutbox>

/** Bounds what a server holds for its clients: answers that are being built, and bytes that were not taken yet. */
export function createOutbox({
  connections,
  bytesMax = limits.serverBufferBytesMax,
  nextTurn = setImmediate,
}: OutboxDeps) {
  /** Pieces that streams are sending, each with the number of its streams. */
  const held = new Map<Uint8Array, number>()
  let heldBytes = 0
  const places = {
    page: createPlaces(builtAtOnceMax.page, nextTurn),
    stream: createPlaces(builtAtOnceMax.stream, nextTurn),
  }

  const bytes = (): number => {
    let total = heldBytes
    for (const { writableLength } of connections()) total += writableLength
    return total
  }

  return {
    bytes,

    /** Waits for a place to build an answer. Call the returned function once, when the answer is built. Refused: server_busy. */
    async enter(kind: keyof typeof places): Promise<Result<() => void>> {
      const { take, leave } = places[kind]
      await take()
      if (bytes() <= bytesMax) return ok(leave)
      leave()
      const message = 'The server holds too much for clients that do not read. Try again in a few seconds.'
      return refuse(fault('server_busy', message, { retryAfterSeconds, bytesMax }))
    },

    /** Counts bytes that a stream sends, once for all its streams. Call the returned function when they are sent. */
    hold(piece: Uint8Array): () => void {
      const streams = held.get(piece) ?? 0
      if (streams === 0) heldBytes += piece.byteLength
      held.set(piece, streams + 1)
      return () => {
        const left = (held.get(piece) ?? 1) - 1
        if (left > 0) return void held.set(piece, left)
        held.delete(piece)
        heldBytes -= piece.byteLength
      }
    },
  }
}

/** Gives a number of places to those that wait, in order. */
function createPlaces(max: number, nextTurn: (go: () => void) => void) {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    async take(): Promise<void> {
      if (taken < max) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
    },
    leave(): void {
      const next = waiting.shift()
      if (next) nextTurn(next)
      else taken -= 1
    },
  }
}
