import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { Row } from '../row.ts'

const root = resolve(import.meta.dirname, '../../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')
const file = 'test/e2e/kill-nine.e2e.test.ts'

/** `npm test` kills the server a few times; this does it often. */
export const killServer: Row = {
  name: 'D20',
  fault: 'kill -9 of a server at a random moment',
  needs: [],
  async run({ isQuick, dice }) {
    const cycles = isQuick ? 8 : 300
    const seed = dice.below(1_000_000)
    const env = { ...process.env, KILL_CYCLES: String(cycles), SEED: String(seed) }
    const args = [vitest, 'run', '--project', 'e2e', file, '--testTimeout', '3600000']
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    const violations = status === 0 ? [] : [`SEED=${seed}: ${`${stdout}${stderr}`.slice(-4000)}`]
    return { did: `${cycles} kills`, violations }
  },
}
