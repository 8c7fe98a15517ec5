import { describe, expect, it } from 'vitest'
import { runClusterSeed } from './cluster/run-seed.ts'
import type { Defect } from './cluster/simulated-database.ts'
import { runs, seedsOf } from './runs.ts'

describe('three nodes with partitions, pauses, kills and lost answers', () => {
  it.each(seedsOf(runs.clusters))('keep every acknowledged command and one owner per epoch (SEED=%i)', async (seed) => {
    const { acknowledged, calls, faults } = await runClusterSeed(seed)
    expect(acknowledged).toBeGreaterThan(0)
    expect(calls + faults.size).toBeGreaterThan(0)
  })

  const defects: readonly Defect[] = [
    'the database ignores epochs',
    'the database lets a live node be replaced',
    'the database removes a live node',
    'the database acknowledges what it does not write',
    'the database accepts a command twice',
    'a node works on after its term',
  ]
  it.each(defects)('show it if %s', async (defect) => {
    const seedsMax = 60
    for (let seed = 1; seed <= seedsMax; seed++) {
      const problem = await runClusterSeed(seed, defect).then(() => null, String)
      if (problem !== null) return
    }
    expect.unreachable(`no run of ${seedsMax} noticed it`)
  })
})
