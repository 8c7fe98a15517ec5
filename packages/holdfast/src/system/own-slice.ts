import { setImmediate } from 'node:timers/promises'

// A copy of core's, which adapters may not import: the two do not wait for each other.
let lastTurn: Promise<void> = Promise.resolve()

/** Resolves in a turn of the event loop of its own. An answer has many calls, and each of them may take milliseconds. */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}

/** Counts comparisons: who compares much gives other work a turn, and tests see that the time stays linear. */
export type Work = { steps: number }

/** Comparisons in one turn of the event loop: a few milliseconds. */
const stepsPerTurn = 100_000

/** Comparisons since the last turn, of all calls together. */
const compared: Work = { steps: 0 }

/** Returns where to count comparisons. Gives other work a turn of the event loop first if enough was compared in this one. */
export function takeTurn(): Work | Promise<Work> {
  if (compared.steps <= stepsPerTurn) return compared
  compared.steps = 0
  return ownTurn().then(() => compared)
}
