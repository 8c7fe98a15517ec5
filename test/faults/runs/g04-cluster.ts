import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { Row } from '../row.ts'

const root = resolve(import.meta.dirname, '../../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const file = 'test/faults/rows/g-cluster.test.ts'

/** `npm test` runs a few of these faults; this runs many. */
export const clusterFaults: Row = {
  name: 'G4',
  fault: 'three nodes on PostgreSQL: kill -9, pauses, cut and slow connections, restarts, a skewed clock',
  needs: [],
  async run({ isQuick, dice }) {
    const cycles = isQuick ? 10 : 1000
    const seed = dice.below(1_000_000)
    const env = { ...process.env, CLUSTER_CYCLES: String(cycles), SEED: String(seed) }
    const args = [vitest, 'run', '--project', 'faults', file]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    const output = `${stdout}${stderr}`
    const violations = status === 0 ? [] : [`SEED=${seed}: ${output.slice(-4000)}`]
    const did = /\d+ commands; .*/.exec(output)?.[0] ?? ''
    return { did: `${cycles} faults, ${did}`, violations }
  },
}
