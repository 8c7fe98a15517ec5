import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const bench = resolve(import.meta.dirname, '..')

/**
 * Installs the peers into bench/node_modules, which nothing else uses. Install scripts are disabled, because no peer needs
 * one.
 */
export function installPeers(): void {
  if (existsSync(join(bench, 'node_modules'))) return
  process.stderr.write('Installing the peers into bench/node_modules (about 700 MB) …\n')
  const { status } = spawnSync('npm', ['ci', '--prefix', bench, '--ignore-scripts', '--no-audit', '--no-fund'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0)
    throw new Error('Cannot install the peers. Run `npm ci --prefix bench --ignore-scripts` to see the error.')
}
