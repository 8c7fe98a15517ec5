import { setImmediate } from 'node:timers/promises'

// A copy of core's, which adapters may not import: the two do not wait for each other.
let lastSlice: Promise<void> = Promise.resolve()

/** Yields to the event loop, and resolves in a slice of its own. An answer has many calls, and each of them may take milliseconds. */
export function ownSlice(): Promise<void> {
  lastSlice = lastSlice.then(() => setImmediate())
  return lastSlice
}

/** Counts comparisons, to divide many of them into slices, and to test that their number grows linearly. */
export type Work = { steps: number }

/** Comparisons in one slice: a few milliseconds. */
const stepsPerSlice = 100_000

/** Comparisons since the last slice, of all calls together. */
const compared: Work = { steps: 0 }

/** Returns where to count comparisons. Yields to the event loop first if enough was compared in this slice. */
export function workOfSlice(): Work | Promise<Work> {
  if (compared.steps <= stepsPerSlice) return compared
  compared.steps = 0
  return ownSlice().then(() => compared)
}
