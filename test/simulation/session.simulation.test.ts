import { describe, it } from 'vitest'
import { isOneSeed, runs, seedsOf } from './runs.ts'
import { seedsThatFoundBugs } from './seeds.ts'
import { runSessionSeed } from './session-run.ts'

const nameless = isOneSeed ? seedsOf(1) : [...new Set([...seedsThatFoundBugs, ...seedsOf(runs.sessions)])]

describe('runtime with crashes between any two steps', () => {
  it.each(nameless)('keeps all invariants (SEED=%i)', async (seed) => {
    await runSessionSeed(seed, 'nameless')
  })

  it.each(seedsOf(runs.hookedSessions))(
    'keeps all invariants with hooks that veto, change and fail (SEED=%i)',
    async (seed) => {
      await runSessionSeed(seed, 'hooked')
    },
  )

  it.each(seedsOf(runs.sessions))(
    'keeps all invariants with two clients that take turns as driver (SEED=%i)',
    async (seed) => {
      await runSessionSeed(seed, 'named')
    },
  )
})
