import type { Result } from '@holdfast/protocol'
import type { OnProblem } from '../ports/observer.ts'

export type RunInBackground = (where: string, work: Promise<void> | Promise<Result<unknown>>) => void

/** Runs work in the background and reports its failures. An unhandled rejection would end the process. */
export function createBackgroundTasks(onProblem: OnProblem): RunInBackground {
  const hear: (...args: Parameters<RunInBackground>) => Promise<void> = async (where, work) => {
    try {
      const came = await work
      if (came && !came.ok) onProblem({ where, cause: came.fault })
    } catch (cause) {
      onProblem({ where, cause })
    }
  }
  return (where, work) => void hear(where, work)
}
