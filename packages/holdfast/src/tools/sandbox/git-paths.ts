import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { namedPaths, readGitFile } from '../../system/files/git-config.ts'
import { isInside } from '../../system/files/resolve-path.ts'
import type { Confines, OutsideData } from './bubblewrap.ts'
import type { Placeholder } from './placeholders.ts'

type GitPaths = Pick<Confines, 'readOnly' | 'keptEmpty' | 'outside'> & {
  /** Names that git would read and that do not exist: a command must not take them. */
  readonly absent: readonly Placeholder[]
}

/** How deep repositories in the workdir are looked for, and in how many folders: a command must not wait long. */
const nestedDepth = 2
const foldersMax = 1000
const skipped = new Set(['node_modules', '.git', '.holdfast'])

/** Finds what git reads. It runs programs that hooks and config name, for the person too: commands must not write those. */
export async function findGitPaths(workdir: string): Promise<GitPaths> {
  const git = join(workdir, '.git')
  const nested = await Promise.all((await findNested(workdir)).map((path) => pathsOf(path, workdir)))
  const stats = await lstat(git).catch(() => null)
  // An empty folder is what an earlier command found: git takes it for no repository.
  const isEmpty = (await readdir(git).catch(() => null))?.length === 0
  if (stats === null || (stats.isDirectory() && isEmpty))
    return joinPaths([{ ...none, absent: [{ path: git, content: null }] }, ...nested])
  const own = await pathsOf(git, workdir)
  return { ...joinPaths([own, ...nested]), outside: stats.isFile() ? await findWorktreeData(git) : null }
}

const none: GitPaths = { readOnly: [], keptEmpty: [], outside: null, absent: [] }

const joinPaths = (all: readonly GitPaths[]): GitPaths => ({
  readOnly: all.flatMap(({ readOnly }) => readOnly),
  keptEmpty: all.flatMap(({ keptEmpty }) => keptEmpty),
  absent: all.flatMap(({ absent }) => absent),
  outside: null,
})

/** Finds the `.git` of repositories in the workdir, among them submodules. */
async function findNested(workdir: string): Promise<readonly string[]> {
  const found: string[] = []
  let folders = [workdir]
  let looked = 0
  for (let depth = 0; depth <= nestedDepth; depth++) {
    const now = folders.slice(0, foldersMax - looked)
    looked += now.length
    const lists = await Promise.all(
      now.map(async (folder) => {
        const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
        if (folder !== workdir && entries.some(({ name }) => name === '.git')) found.push(join(folder, '.git'))
        return entries
          .filter((one) => one.isDirectory() && !skipped.has(one.name))
          .map(({ name }) => join(folder, name))
      }),
    )
    folders = lists.flat()
  }
  return found
}

/** Returns what a `.git` of the workdir makes git run, whether it is a folder, a file, or a link to a folder. */
async function pathsOf(link: string, workdir: string): Promise<GitPaths> {
  const git = await realpath(link).catch(() => null)
  if (git === null || !isInside(workdir, git)) return none
  if (!(await lstat(git)).isDirectory()) return { ...none, readOnly: [git] }
  const names = ['hooks', 'config', 'config.worktree', 'commondir', 'modules']
  const readOnly = await realPaths(
    workdir,
    names.map((name) => join(git, name)),
  )
  const config = await readGitFile(join(git, 'config'))
  const named = await findNamed(git, config, workdir)
  const isMissing = async (name: string) => (await lstat(join(git, name)).catch(() => null)) === null
  return {
    outside: null,
    readOnly: [...readOnly, ...named.readOnly],
    keptEmpty: (await isMissing('hooks')) ? [join(git, 'hooks')] : [],
    absent: [
      ...named.absent,
      // The folder itself is its own shared folder, which is what git takes without the file.
      ...((await isMissing('commondir')) ? [{ path: join(git, 'commondir'), content: '.\n' }] : []),
      ...(/worktreeconfig/i.test(config) && (await isMissing('config.worktree'))
        ? [{ path: join(git, 'config.worktree'), content: '' }]
        : []),
    ],
  }
}

/** Finds the folders of hooks and the files with further settings that a configuration names. */
async function findNamed(git: string, config: string, workdir: string): Promise<Pick<GitPaths, 'readOnly' | 'absent'>> {
  const readOnly: string[] = []
  const absent: Placeholder[] = []
  for (const { isHooks, isProgram, path: value } of namedPaths(config)) {
    const path = resolve(isHooks || isProgram ? dirname(git) : git, value)
    if (path === workdir || !isInside(workdir, path)) continue
    const [real] = await realPaths(workdir, [path])
    if (real !== undefined) readOnly.push(real)
    else if (!isProgram) absent.push({ path, content: isHooks ? null : '' })
  }
  return { readOnly, absent }
}

/** Returns where paths of the workdir lead, of those that exist and stay in it. */
export async function realPaths(workdir: string, paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => realpath(resolve(workdir, path)).catch(() => null)))
  return found.filter((path) => path !== null).filter((path) => path !== workdir && isInside(workdir, path))
}

/**
 * Finds the data of a linked worktree, which is in the repository it belongs to. A command of an earlier run may have written
 * the file that names it, so the repository must name this worktree too: a command cannot write there.
 */
async function findWorktreeData(link: string): Promise<OutsideData | null> {
  try {
    const workdir = dirname(link)
    const [, named = ''] = /^gitdir: (.+)\n?$/.exec(await readGitFile(link)) ?? []
    const own = await realpath(resolve(workdir, named))
    const common = dirname(dirname(own))
    const back = resolve(own, (await readGitFile(join(own, 'gitdir'))).trimEnd())
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
