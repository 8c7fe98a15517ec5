import { setImmediate } from 'node:timers/promises'

// A copy of core's, which adapters may not import: the two do not wait for each other.
let lastTurn: Promise<void> = Promise.resolve()

/** Resolves in a turn of the event loop of its own. An answer has many calls, and each of them may take milliseconds. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}
