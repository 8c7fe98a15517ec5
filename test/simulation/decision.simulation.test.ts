import { describe, it } from 'vitest'
import { runDecisionSeed } from './decision-run.ts'
import { batchesOf, replay, runs } from './runs.ts'

describe('decide, evolve and plan with crashes between any two steps', () => {
  it.each(batchesOf(runs.decisions))('keep their invariants (SEED=$first and the next)', ({ seeds }) => {
    for (const seed of seeds) {
      try {
        runDecisionSeed(seed)
      } catch (cause) {
        throw new Error(`${replay(seed, 'decision')}\n${cause instanceof Error ? cause.message : cause}`, { cause })
      }
    }
  })
})
