import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import type { Row } from '../row.ts'

const root = resolve(import.meta.dirname, '../../..')
const vitest = join(root, 'node_modules/vitest/vitest.mjs')

/** `npm test` samples these rows; this tests every position. */
const everyOne = (name: 'D5' | 'D7', fault: string, file: string): Row => ({
  name,
  fault,
  needs: [],
  async run() {
    const args = [vitest, 'run', '--project', 'faults', `test/faults/rows/${file}.test.ts`, '--testTimeout', '1800000']
    const env = { ...process.env, FAULTS_ALL: '1' }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, env, encoding: 'utf8' })
    return { did: `each test of ${file}`, violations: status === 0 ? [] : [`${stdout}${stderr}`.slice(-4000)] }
  },
})

export const everyCut = everyOne('D5', 'a log truncated at every byte', 'd05-truncation')
export const everyBit = everyOne('D7', 'every bit of a record flipped', 'd07-bit-flips')
