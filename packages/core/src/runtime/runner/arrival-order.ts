import type { SessionCommand } from '../../session/input.ts'

/** A command between its arrival and the mailbox. */
export type Arrival = {
  /** Resolves once the commands that must be in the mailbox first are there; null if there are none. */
  readonly before: Promise<unknown> | null
  /** Says that the command is in the mailbox, or will not get there. */
  placed(): void
}

/**
 * Keeps aborts in the order in which they arrived. Commands are looked up before they enter the mailbox, which takes
 * each its own time: without this, an abort could stop the prompt that was sent after it, or miss the one before it.
 */
export function createArrivalOrder() {
  const aborts = new Set<Promise<void>>()
  const others = new Set<Promise<void>>()

  return {
    /** Registers a command as it arrives. Nothing waits for the look-up of one that `isLong`. */
    enter(type: SessionCommand['type'], isLong: boolean): Arrival {
      const [earlier, own] = type === 'abort' ? [others, aborts] : [aborts, others]
      const before = earlier.size > 0 ? Promise.all(earlier) : null
      if (isLong) return { before, placed: () => undefined }
      const { promise, resolve } = Promise.withResolvers<void>()
      own.add(promise)
      return {
        before,
        placed() {
          own.delete(promise)
          resolve()
        },
      }
    },
  }
}
