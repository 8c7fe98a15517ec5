import { ownSlice } from '@holdfast/core/ports'

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
