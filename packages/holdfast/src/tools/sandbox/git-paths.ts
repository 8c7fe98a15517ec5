import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { readGitFile } from '../../system/files/git-config.ts'
import { findGitFolders, findWorkTrees, listNamedByGit } from '../../system/files/named-by-git.ts'
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

/**
 * Finds what git reads of a workdir, of the work trees it is in, and of the repositories in it. Git runs programs that hooks and
 * settings name, for the person too: commands must not write those.
 */
export async function findGitPaths(workdir: string): Promise<GitPaths> {
  const git = join(workdir, '.git')
  const stats = await lstat(git).catch(() => null)
  // An empty folder is what an earlier command found: git takes it for no repository.
  const isNone = stats === null || (stats.isDirectory() && (await readdir(git).catch(() => null))?.length === 0)
  const around = (await findWorkTrees(workdir)).filter((top) => top !== workdir || !isNone)
  const tops = [...around, ...(await findNested(workdir))]
  const free: GitPaths = isNone ? { ...none, absent: [{ path: git, content: null }] } : none
  const found = joinPaths([free, ...(await Promise.all(tops.map((top) => pathsOf(top, workdir))))])
  return {
    ...found,
    absent: found.absent.filter(({ path }) => !found.readOnly.some((one) => isInside(one, path))),
    outside: stats?.isFile() ? await findWorktreeData(git) : null,
  }
}

const none: GitPaths = { readOnly: [], keptEmpty: [], outside: null, absent: [] }

/** Joins what several repositories read. Some share a folder, or name the same file. */
const joinPaths = (all: readonly GitPaths[]): GitPaths => ({
  readOnly: [...new Set(all.flatMap(({ readOnly }) => readOnly))],
  keptEmpty: [...new Set(all.flatMap(({ keptEmpty }) => keptEmpty))],
  absent: [...new Map(all.flatMap(({ absent }) => absent.map((one) => [one.path, one] as const))).values()],
  outside: null,
})

/** Finds the repositories in the workdir, among them submodules and linked work trees. */
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
        if (folder !== workdir && entries.some(({ name }) => name === '.git')) found.push(folder)
        return entries
          .filter((one) => one.isDirectory() && !skipped.has(one.name))
          .map(({ name }) => join(folder, name))
      }),
    )
    folders = lists.flat()
  }
  return found
}

/** Returns the paths in the workdir that git reads for a work tree. */
async function pathsOf(top: string, workdir: string): Promise<GitPaths> {
  const link = join(top, '.git')
  const { own, common } = await findGitFolders(top)
  const settings = await readGitFile(join(common, 'config'))
  const folders = [await folderPaths(common, settings, workdir)]
  // Hooks are only in the shared folder.
  if (own !== common) folders.push({ ...(await folderPaths(own, settings, workdir)), keptEmpty: [] })
  const isFile = (await stat(link).catch(() => null))?.isFile() ?? false
  const file = { ...none, readOnly: isFile ? await realPaths(workdir, [link]) : [] }
  return joinPaths([file, await namedPathsOf(top, workdir), ...folders])
}

const guardedNames = ['hooks', 'config', 'config.worktree', 'commondir', 'modules']
/** What leads from a linked work tree to its repository, and its own settings. */
const linkNames = ['gitdir', 'commondir', 'config.worktree']
const worktreesMax = 100

/** Returns the paths that git reads in its own folder. `settings` is the text of the repository's `config`. */
async function folderPaths(folder: string, settings: string, workdir: string): Promise<GitPaths> {
  const git = await realpath(folder).catch(() => null)
  // A command could create it, with settings in it.
  if (git === null) return isInside(workdir, folder) ? { ...none, absent: [{ path: folder, content: null }] } : none
  if (!isInside(workdir, git)) return none
  const linked = await readdir(join(git, 'worktrees')).catch(() => [])
  const worktrees = linked.slice(0, worktreesMax).map((name) => join(git, 'worktrees', name))
  const names = [
    ...guardedNames.map((name) => join(git, name)),
    ...worktrees.flatMap((one) => linkNames.map((name) => join(one, name))),
  ]
  const readOnly = await realPaths(workdir, names)
  const isMissing = async (path: string) => (await lstat(path).catch(() => null)) === null
  const absent: Placeholder[] = []
  // The folder itself is its own shared folder, which is what git takes without the file.
  if (await isMissing(join(git, 'commondir'))) absent.push({ path: join(git, 'commondir'), content: '.\n' })
  if (/worktreeconfig/i.test(settings))
    for (const one of [git, ...worktrees])
      if (await isMissing(join(one, 'config.worktree')))
        absent.push({ path: join(one, 'config.worktree'), content: '' })
  return { ...none, readOnly, keptEmpty: (await isMissing(join(git, 'hooks'))) ? [join(git, 'hooks')] : [], absent }
}

/** Finds the folders of hooks, the programs and the files with further settings that settings name in the workdir. */
async function namedPathsOf(top: string, workdir: string): Promise<GitPaths> {
  const readOnly: string[] = []
  const absent: Placeholder[] = []
  for (const { path, kind } of await listNamedByGit(top)) {
    if (path === workdir || !isInside(workdir, path)) continue
    const [real] = await realPaths(workdir, [path])
    if (real !== undefined) readOnly.push(real)
    else if (kind !== 'program') absent.push({ path, content: kind === 'hooks' ? null : '' })
  }
  return { ...none, readOnly, absent }
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
