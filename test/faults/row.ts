import type { Dice } from '@holdfast/testkit'
import type { Need } from './machine.ts'

export type RowRun = {
  /** Uses small counts, to check that a row runs at all. */
  readonly isQuick: boolean
  readonly dice: Dice
  /** A directory for this row, removed afterwards. */
  readonly home: string
}

export type RowResult = {
  /** A summary of the run, with its counts. */
  readonly did: string
  readonly violations: readonly string[]
}

/** A row of the fault matrix that needs root, a tracer, a mount or a long time. */
export type Row = {
  readonly name: `${'D' | 'G'}${number}`
  readonly fault: string
  readonly needs: readonly Need[]
  run(run: RowRun): Promise<RowResult>
}
