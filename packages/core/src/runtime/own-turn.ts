import { setImmediate } from 'node:timers/promises'

let lastTurn = Promise.resolve()

/** Resolves in a turn of the event loop of its own. A round has many calls, and each one may take milliseconds. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}
