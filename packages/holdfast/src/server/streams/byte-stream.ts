import type { UnderlyingSource } from 'node:stream/web'
import { ok, type Result } from '@holdfast/protocol'
import { type Outbox, privateCopies } from './outbox.ts'

/** A body is sent in parts of this size, so that a connection holds one part, and a slow client shows its progress. */
export const partBytes = 64 * 1024

export function* partsOf(pieces: readonly Uint8Array[]): Iterator<Uint8Array> {
  for (const piece of pieces)
    for (let at = 0; at < piece.byteLength; at += partBytes) yield piece.subarray(at, at + partBytes)
}

export const nextSlice = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

type Pieces = AsyncIterable<string | Uint8Array>

type ByteAnswer = {
  readonly kind: 'stream' | 'export'
  readonly headers: Readonly<Record<string, string>>
  readonly open: () => Promise<Result<Pieces>>
  /** What the source of the pieces holds while one is sent; it counts if it is more than the piece. */
  readonly sourceBytes?: number | undefined
}

/** Answers with a body that `open` returns piece by piece. Refused: server_busy, and as `open` refuses. */
export async function answerByteStream(
  outbox: Pick<Outbox, 'enter' | 'hold' | 'slice'>,
  { kind, headers, open, sourceBytes }: ByteAnswer,
): Promise<Result<Response>> {
  const place = await outbox.enter(kind)
  if (!place.ok) return place
  try {
    const pieces = await open()
    return pieces.ok ? ok(new Response(openByteStream(pieces.value, outbox, sourceBytes), { headers })) : pieces
  } finally {
    place.value()
  }
}

/**
 * Opens a body that is pulled: the next piece is read only when the socket took the last one. A piece counts as held by
 * the server until it is sent, with what its source holds meanwhile.
 */
export function openByteStream(
  pieces: Pieces,
  { hold, slice }: Pick<Outbox, 'hold' | 'slice'>,
  sourceBytes = 0,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let isOver = false
  let sending: { readonly parts: Iterator<Uint8Array>; readonly sent: () => void } | null = null
  const end = () => {
    sending?.sent()
    sending = null
  }

  const source: UnderlyingSource<Uint8Array> = {
    async pull(controller) {
      const part = sending?.parts.next()
      if (part && !part.done) {
        await slice() // other connections come between
        return isOver ? undefined : controller.enqueue(part.value)
      }
      end()
      const next = await iterator.next()
      await slice()
      if (isOver) return
      if (next.done) return controller.close()
      const piece = typeof next.value === 'string' ? encoder.encode(next.value) : next.value
      const isSmall = piece.byteLength <= partBytes && sourceBytes === 0
      if (isSmall || piece.byteLength === 0) return controller.enqueue(piece)
      const copies = Math.max(privateCopies, Math.ceil(sourceBytes / piece.byteLength))
      sending = { parts: partsOf([piece]), sent: hold(piece, copies) }
      controller.enqueue(sending.parts.next().value)
    },

    async cancel() {
      isOver = true
      end()
      await iterator.return?.()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}
