import type { Event } from '../event/event.ts'
import { limits } from '../value/limits.ts'
import type { FrameOf } from './frame.ts'

/** A part of the running answer, or the output of a running call, so far. */
export type LivePart = FrameOf<'draft'>['parts'][number]

/** Identifies the part a fragment belongs to. */
export type LivePosition = Omit<LivePart, 'text'>

const outputCharsMax = limits.toolOutputInlineBytesMax

export type LiveParts = ReturnType<typeof createLiveParts>

/** Holds the parts that are streaming and not yet recorded. A fragment costs O(1), however many parts there are. */
export function createLiveParts() {
  const parts = new Map<string, LivePart>()
  /** Built when it is asked for, and the same until a part changes. */
  let listed: readonly LivePart[] | null = []
  const remove = (isRecorded: (part: LivePart) => boolean) => {
    for (const [key, part] of parts) {
      if (!isRecorded(part)) continue
      parts.delete(key)
      listed = null
    }
  }

  return {
    /** Appends `text` to its part. Of long tool output only the end is kept. */
    add({ step, part, kind, call, tool }: LivePosition, text: string): void {
      const key = `${step} ${part} ${call ?? ''}`
      const old = parts.get(key)
      const whole = (old?.text ?? '') + text
      parts.set(key, {
        ...(old ?? { step, part, kind, ...(call !== undefined && { call }), ...(tool !== undefined && { tool }) }),
        text: kind === 'output' ? whole.slice(-outputCharsMax) : whole,
      })
      listed = null
    },

    /** Removes the parts that `event` has recorded. */
    drop(event: Event): void {
      if (event.type === 'step.ended') remove(({ step, kind }) => step === event.step && kind !== 'output')
      else if (event.type === 'call.settled') remove(({ call }) => call === event.call)
      else if (event.type === 'turn.ended') remove(() => true)
    },

    replace(all: readonly LivePart[]): void {
      parts.clear()
      for (const part of all) parts.set(`${part.step} ${part.part} ${part.call ?? ''}`, part)
      listed = null
    },

    /** Returns the parts in the order in which they began. An unchanged part is the same object as before. */
    list(): readonly LivePart[] {
      listed ??= [...parts.values()]
      return listed
    },
  }
}
