import { describe, it } from 'vitest'
import { isOneSeed, runs, seedsOf } from './runs.ts'
import { seedsThatFoundBugs } from './seeds.ts'
import { runSessionSeed } from './session-run.ts'

const nameless = isOneSeed ? seedsOf(1) : [...new Set([...seedsThatFoundBugs, ...seedsOf(runs.stories)])]

describe('the real runtime, with a crash between any two steps', () => {
  it.each(nameless)('keeps every promise (SEED=%i)', async (seed) => {
    await runSessionSeed(seed, 'nameless')
  })

  it.each(seedsOf(runs.stories))(
    'keeps every promise to two clients that drive and watch in turns (SEED=%i)',
    async (seed) => {
      await runSessionSeed(seed, 'named')
    },
  )
})
