import { setImmediate } from 'node:timers/promises'

let lastTurn = Promise.resolve()

/** Resolves in a turn of the event loop of its own. Each of many calls or bodies may take milliseconds. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}
