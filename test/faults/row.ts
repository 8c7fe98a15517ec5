import type { Dice } from '@holdfast/testkit'
import type { Need } from './machine.ts'

export type RowRun = {
  /** Small counts, to see that a row runs at all. */
  readonly isQuick: boolean
  readonly dice: Dice
  /** A directory of its own, removed afterwards. */
  readonly home: string
}

export type RowResult = {
  /** What was done, with its counts. */
  readonly did: string
  readonly violations: readonly string[]
}

/** A row of the fault matrix that takes root, a tracer, a mount or a long time. */
export type Row = {
  readonly name: `D${number}`
  readonly fault: string
  readonly needs: readonly Need[]
  run(run: RowRun): Promise<RowResult>
}
