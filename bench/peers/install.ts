import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const bench = resolve(import.meta.dirname, '..')

/**
 * Brings the peers into bench/node_modules, where nothing else looks. None of them may run a script while it is installed,
 * and none needs to.
 */
export function installPeers(): void {
  if (existsSync(join(bench, 'node_modules'))) return
  process.stderr.write('Installing the peers into bench/node_modules (about 700 MB) …\n')
  const { status } = spawnSync('npm', ['ci', '--prefix', bench, '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0)
    throw new Error('The peers could not be installed: `npm ci --prefix bench --ignore-scripts` says why.')
}
