import type { Measured } from '../measurement.ts'

/** How large a scenario is: the whole, or the short form that a test runs. */
export type LoadRun = {
  readonly dir: string
  readonly isQuick: boolean
  /** How long the soak takes. */
  readonly soakMinutes: number
}

/** The rows of a scenario, and what it found broken whatever the speed: lost events, leaks, clients that were not cut. */
export type LoadResult = Measured & { readonly violations: readonly string[] }

/** Puts a load on a real server in a process of its own. */
export type Scenario = (run: LoadRun) => Promise<LoadResult>
