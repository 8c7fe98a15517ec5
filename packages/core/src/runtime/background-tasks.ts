import type { Result } from '@holdfast/protocol'
import type { OnProblem } from '../ports/observer.ts'

export type RunInBackground = (where: string, work: Promise<void> | Promise<Result<unknown>>) => void

/** Runs work in the background and reports its failures. An unhandled rejection would end the process. */
export function createBackgroundTasks(onProblem: OnProblem): RunInBackground {
  const run = async (...[where, work]: Parameters<RunInBackground>): Promise<void> => {
    try {
      const result = await work
      if (result && !result.ok) onProblem({ where, cause: result.fault })
    } catch (cause) {
      onProblem({ where, cause })
    }
  }
  return (where, work) => void run(where, work)
}
