import type { Dice } from '@holdfast/testkit'
import type { ServerProcess } from '../e2e/server-process.ts'
import type { Bystander } from './bystander.ts'
import type { HostileModel } from './hostile-model.ts'
import type { HostileSite } from './hostile-site.ts'

export type CaseRun = {
  /** Uses small inputs, so that `npm test` can run every case. */
  readonly isQuick: boolean
  readonly dice: Dice
  /** A real server in its own home. In the quick form other cases have run on it before. */
  readonly server: ServerProcess
  readonly model: HostileModel
  /** A website that the tools may read. */
  readonly site: HostileSite
  /** A user who works on the same server meanwhile. */
  readonly bystander: Bystander
  /** The home of the server. */
  readonly home: string
  /** An empty folder for the case. */
  readonly workdir: string
}

type CaseResult = {
  /** A summary of the run, with its counts. */
  readonly did: string
  readonly violations: readonly string[]
}

/** Where hostile input comes from. The test has a group for each. */
export const origins = ['model', 'repository', 'import', 'client', 'program', 'site'] as const

/** An input that tries to stop the server, fill its memory or be believed. */
export type HostileCase = {
  readonly name: string
  readonly from: (typeof origins)[number]
  /** The codes of faults that the bystander may get; none by default. */
  readonly refusals?: readonly string[]
  /** Lets the server load what it loads once, such as a library. This is not measured. */
  prepare?(run: CaseRun): Promise<void>
  run(run: CaseRun): Promise<CaseResult>
}
