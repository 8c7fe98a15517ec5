import { runDecisionSeed } from '../../simulation/decision-run.ts'
import { runSessionModelSeed } from '../../simulation/model/run-seed.ts'
import { runRequestsSeed } from '../../simulation/requests/run-seed.ts'
import { runSessionSeed } from '../../simulation/session-run.ts'
import type { Row, RowRun } from '../row.ts'

const suites: readonly (readonly [string, (seed: number) => void | Promise<void>])[] = [
  ['session-model', runSessionModelSeed],
  ['session', (seed) => runSessionSeed(seed, 'named')],
  ['requests', runRequestsSeed],
  ['decision', runDecisionSeed],
]
const seedsEach = 2500
const seedsQuick = 20

/** Runs the seeded simulation: crashes between any two steps of the store, a failing disk, a fake clock. */
export const randomMix: Row = {
  name: 'D28',
  fault: 'a random mix, 10,000 seeds of the simulation',
  needs: [],
  async run({ isQuick, dice }: RowRun) {
    const violations: string[] = []
    const seeds = isQuick ? seedsQuick : seedsEach
    const first = 1_000_000 + dice.below(1_000_000)
    for (const [name, live] of suites)
      for (let seed = first; seed < first + seeds; seed++) {
        try {
          await live(seed)
        } catch (cause) {
          violations.push(`${name} SEED=${seed}: ${cause instanceof Error ? cause.message : cause}`)
        }
      }
    return { did: `${seeds} seeds from ${first} of ${suites.map(([name]) => name).join(', ')}`, violations }
  },
}
