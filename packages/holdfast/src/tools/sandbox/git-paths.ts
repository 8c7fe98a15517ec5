import { lstat, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isInside } from '../../system/files/resolve-path.ts'
import type { Confines, OutsideData } from './bubblewrap.ts'

type GitPaths = Pick<Confines, 'readOnly' | 'keptEmpty' | 'outside'>

const none: GitPaths = { readOnly: [], keptEmpty: [], outside: null }

/** Finds what git reads. It runs programs that hooks and config name, for the person too: commands must not write those. */
export async function findGitPaths(workdir: string): Promise<GitPaths> {
  const git = join(workdir, '.git')
  const stats = await lstat(git).catch(() => null)
  if (stats?.isFile()) return { readOnly: [git], keptEmpty: [], outside: await findWorktreeData(git) }
  if (!stats?.isDirectory()) return none
  const hooks = join(git, 'hooks')
  const hasHooks = (await lstat(hooks).catch(() => null)) !== null
  return {
    readOnly: await realPaths(workdir, ['.git/hooks', '.git/config']),
    keptEmpty: hasHooks ? [] : [hooks],
    outside: null,
  }
}

/** Returns where paths of the workdir lead, of those that exist and stay in it. */
export async function realPaths(workdir: string, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => realpath(join(workdir, path)).catch(() => null)))
  return found.filter((path) => path !== null).filter((path) => path !== workdir && isInside(workdir, path))
}

/**
 * Finds the data of a linked worktree, which is in the repository it belongs to. A command of an earlier run may have written
 * the file that names it, so the repository must name this worktree too: a command cannot write there.
 */
async function findWorktreeData(link: string): Promise<OutsideData | null> {
  try {
    const workdir = dirname(link)
    const [, named = ''] = /^gitdir: (.+)\n?$/.exec(await readFile(link, 'utf8')) ?? []
    const own = await realpath(resolve(workdir, named))
    const common = dirname(dirname(own))
    const back = resolve(own, (await readFile(join(own, 'gitdir'), 'utf8')).trimEnd())
    const isOurs = basename(dirname(own)) === 'worktrees' && (await realpath(back)) === link
    if (!isOurs || isInside(workdir, common) || isInside(common, workdir)) return null
    const isConfigured = /worktreeconfig/i.test(await readFile(join(common, 'config'), 'utf8'))
    const config = await existing(join(own, 'config.worktree'))
    if (isConfigured && config.length === 0) return null // a command could write it, and it can name programs
    const shared = await Promise.all(['objects', 'refs', 'logs'].map((name) => existing(join(common, name))))
    const readOnly = await Promise.all(['gitdir', 'commondir'].map((name) => existing(join(own, name))))
    return { directory: common, writable: [...shared.flat(), own], readOnly: [...readOnly.flat(), ...config] }
  } catch {
    return null // not a worktree that git can use either
  }
}

/** Returns the path if it exists and is no link. */
const existing = async (path: string): Promise<readonly string[]> =>
  (await realpath(path).catch(() => null)) === path ? [path] : []
