import { setImmediate } from 'node:timers/promises'

let lastSlice = Promise.resolve()

/** Yields to the event loop, and resolves in a slice of its own. Each of many calls or bodies may take milliseconds. */
export function ownSlice(): Promise<void> {
  lastSlice = lastSlice.then(() => setImmediate())
  return lastSlice
}
