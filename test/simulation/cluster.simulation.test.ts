import { describe, expect, it } from 'vitest'
import { runClusterSeed } from './cluster/run-seed.ts'
import type { Defect } from './cluster/simulated-database.ts'
import { isOneSeed, runs, seedsOf } from './runs.ts'

/** What the checks say of each defect. */
const violations: Readonly<Record<Defect, RegExp>> = {
  'the database ignores epochs': /writes to ses_\w+ in epoch \d+, and \S+ owns it in epoch \d+/,
  'the database lets a live node be replaced': /takes ses_\w+ from node_\w+, which lives/,
  'the database removes a live node': /acts at node_\w+ after its term/,
  'the database acknowledges what it does not write': /was acknowledged at \d+, recorded at \[\]/,
  'the database accepts a command twice': /was acknowledged at \d+, recorded at \[\d+(,\d+)+\]/,
  'a node works on after its term': /acts at node_\w+ after its term/,
}

describe('three nodes with partitions, pauses, kills and lost answers', () => {
  const sums = { acknowledged: 0, calls: 0, faults: 0 }

  it.each(seedsOf(runs.clusters))('keep every acknowledged command and one owner per epoch (SEED=%i)', async (seed) => {
    const { acknowledged, calls, faults } = await runClusterSeed(seed)
    expect(acknowledged).toBeGreaterThan(0)
    sums.acknowledged += acknowledged
    sums.calls += calls
    sums.faults += [...faults.values()].reduce((sum, count) => sum + count, 0)
  })

  it.skipIf(isOneSeed)('acknowledge commands, run calls and have faults in these runs', () => {
    expect(sums.acknowledged).toBeGreaterThan(0)
    expect(sums.calls).toBeGreaterThan(0)
    expect(sums.faults).toBeGreaterThan(0)
  })

  it.each(Object.entries(violations))('show it if %s', async (defect, violation) => {
    const seedsMax = 60
    const others: string[] = []
    for (let seed = 1; seed <= seedsMax; seed++) {
      const problem = await runClusterSeed(seed, defect as Defect).then(() => null, String) // a key of the table
      if (problem !== null && violation.test(problem)) return
      if (problem !== null) others.push(problem)
    }
    expect.unreachable(`no run of ${seedsMax} noticed it, but: ${others.join('\n') || 'nothing'}`)
  })
})
