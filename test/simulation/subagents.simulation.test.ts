import { describe, it } from 'vitest'
import { runs, seedsOf } from './runs.ts'
import { runTreeSeed } from './subagent-run.ts'

describe('a tree of subagents with crashes between any two steps', () => {
  it.each(seedsOf(runs.trees))('loses no result, starts nothing twice and comes to rest (SEED=%i)', async (seed) => {
    await runTreeSeed(seed, seed % 2 === 0)
  })
})
