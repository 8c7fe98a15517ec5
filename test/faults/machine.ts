import { spawnSync } from 'node:child_process'

/** What a row needs from the machine. */
export type Need = 'root' | 'strace' | 'loop mount' | 'tmpfs'

/** Runs a system program. Throws its output if it fails. */
export function system(command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr.trim() || `exit ${status}`}`)
  return stdout
}

const isThere = (command: string): boolean => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0

const lackOf: Readonly<Record<Need, () => string | null>> = {
  root: () => (process.getuid?.() === 0 ? null : 'it needs root'),
  strace: () => (isThere('strace') ? strangeTracer() : 'there is no strace'),
  'loop mount': () =>
    ['mkfs.ext4', 'losetup', 'python3'].every(isThere) ? noLoop() : 'it needs mkfs.ext4, losetup and python3',
  tmpfs: () => (isThere('mount') ? null : 'there is no mount'),
}

/** A container may have strace installed but forbid tracing. */
function strangeTracer(): string | null {
  const traced = spawnSync('strace', ['-f', '-o', '/dev/null', '-e', 'inject=fsync:signal=KILL', 'true'])
  return traced.status === 0 ? null : 'strace may not trace here'
}

function noLoop(): string | null {
  return spawnSync('losetup', ['-f']).status === 0 ? null : 'there is no free loop device'
}

/** Returns why a row cannot run here, or null. */
export function lackFor(needs: readonly Need[]): string | null {
  for (const need of needs) {
    const lack = lackOf[need]()
    if (lack !== null) return lack
  }
  return null
}
