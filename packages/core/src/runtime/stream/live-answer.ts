import {
  type CallId,
  clip,
  createLiveParts,
  type Event,
  type FrameOf,
  type LivePosition,
  type SessionId,
  type StepId,
} from '@holdfast/protocol'

/** A longer fragment is several frames: each is encoded in a slice of its own. */
const deltaCharsMax = 128 * 1024

type LiveAnswerDeps = {
  /** Sends a frame to all subscribers. */
  readonly send: (frame: FrameOf<'delta'>) => void
  /** Calls back at the end of this slice. */
  readonly afterSlice?: (go: () => void) => void
}

/**
 * Holds the text and output of the running step that is not recorded yet, and shows it. The first fragment of a part in a
 * slice is shown at once. Those that follow in the same slice are one frame, sent at its end: when many
 * arrive together, a frame for each would cost more than the fragments.
 */
export function createLiveAnswer(sessionId: SessionId, { send, afterSlice = setImmediate }: LiveAnswerDeps) {
  const live = createLiveParts()
  let step: StepId | null = null
  let index = -1
  /** The part that was shown last in this slice. */
  let shown: LivePosition | null = null
  /** Fragments of that part which are not sent yet. */
  let joined: string[] = []
  let joinedChars = 0

  function sendPieces(position: LivePosition, text: string): void {
    for (let from = 0; from === 0 || from < text.length; ) {
      const isShort = text.length <= deltaCharsMax
      const piece = isShort ? text : clip(text.slice(from, from + 2 * deltaCharsMax), deltaCharsMax)
      send(grow(position, piece))
      from += Math.max(piece.length, 1)
    }
  }
  function grow(position: LivePosition, text: string): FrameOf<'delta'> {
    if (position.step !== step) {
      step = position.step
      index = -1
    }
    index++
    live.add(position, text)
    return { type: 'delta', sessionId, ...position, index, text }
  }
  function flush(): void {
    if (shown === null || joined.length === 0) return
    const text = joined.join('')
    joined = []
    joinedChars = 0
    sendPieces(shown, text)
  }
  const endSlice = () => {
    flush()
    shown = null
  }

  return {
    /** Adds a fragment, and sends it now or at the end of the slice. */
    show(position: LivePosition, text: string): void {
      if (shown !== null && isSamePart(shown, position)) {
        if (joinedChars + text.length > deltaCharsMax) flush()
        joined.push(text)
        joinedChars += text.length
        return
      }
      flush()
      if (shown === null) afterSlice(endSlice)
      shown = position
      sendPieces(position, text)
    },
    /** Sends what waits for the end of the slice. Call it before any other frame is sent, so that all stay in order. */
    flush,
    /** Drops the parts that are recorded now. */
    drop(event: Event): void {
      flush()
      live.drop(event)
    },
    /** Returns all of it for a client that joins late; null when there is nothing. */
    draft(): FrameOf<'draft'> | null {
      flush()
      const parts = live.list()
      return step === null || parts.length === 0 ? null : { type: 'draft', sessionId, step, index, parts: [...parts] }
    },
    /** Returns what running calls have printed, as far as it is still held. */
    printed(): ReadonlyMap<CallId, string> {
      flush()
      const outputs = live.list().filter(({ kind }) => kind === 'output')
      return new Map(outputs.flatMap(({ call, text }) => (call === undefined ? [] : [[call, text]])))
    },
  }
}

const isSamePart = (one: LivePosition, other: LivePosition): boolean =>
  one.step === other.step && one.part === other.part && one.call === other.call && one.kind === other.kind
