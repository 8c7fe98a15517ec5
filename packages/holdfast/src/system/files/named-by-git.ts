import { lstat, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { namedPaths, readGitFile } from './git-config.ts'

/** A path that the settings of a repository name: git runs what is there, or reads further settings from it. */
export type NamedByGit = { readonly path: string; readonly kind: 'hooks' | 'program' | 'settings' }

/** Where the data of a work tree is: its own, and what all work trees of a repository share. The same for most. */
export type GitFolders = { readonly own: string; readonly common: string }

/** Returns the text of a file; '' if it cannot be read. */
export type ReadGitFile = (file: string) => Promise<string>

/** How many files of settings of a repository are read, and how deep they include each other. */
const filesMax = 50
const depthMax = 10
/** How many repositories in each other are looked at. */
const topsMax = 5

/** Finds the folders with a `.git` from a folder upwards. A session may be in a subfolder of a work tree. */
export async function findWorkTrees(folder: string): Promise<readonly string[]> {
  const folders = [folder]
  for (let at = folder; at !== dirname(at); at = dirname(at)) folders.push(dirname(at))
  const hasGit = await Promise.all(folders.map((one) => exists(join(one, '.git'))))
  return folders.filter((_, index) => hasGit[index]).slice(0, topsMax)
}

/** Finds git's folders of a work tree, whether its `.git` is a folder, a link or a file. They need not exist. */
export async function findGitFolders(top: string, read: ReadGitFile = readGitFile): Promise<GitFolders> {
  const link = join(top, '.git')
  const isFolder = (await stat(link).catch(() => null))?.isDirectory() ?? false
  const [, target] = isFolder ? [] : (/^gitdir: (.+)\n?$/.exec(await read(link)) ?? [])
  const own = target === undefined ? link : resolve(top, target)
  const shared = (await read(join(own, 'commondir'))).trimEnd()
  return { own, common: shared === '' ? own : resolve(own, shared) }
}

/**
 * Lists the paths that the settings of a work tree name, inside the workdir and outside: those in `config`, in
 * `config.worktree`, and in the files that these include.
 */
export async function listNamedByGit(top: string, read: ReadGitFile = readGitFile): Promise<readonly NamedByGit[]> {
  const { own, common } = await findGitFolders(top, read)
  const queue = [join(common, 'config'), join(own, 'config.worktree')].map((file) => ({ file, depth: 0 }))
  const found = new Map<string, NamedByGit>()
  const seen = new Set<string>()
  for (const { file, depth } of queue) {
    if (seen.has(file) || seen.size >= filesMax) continue
    seen.add(file)
    const named = namedPaths(await read(file))
    // A path of an included file is relative to where the including one really is.
    const folder = named.length === 0 ? '' : await realpath(dirname(file)).catch(() => dirname(file))
    for (const { isHooks, isProgram, path: given } of named) {
      const kind = isHooks ? 'hooks' : isProgram ? 'program' : 'settings'
      const inHome = /^~\//.test(given) ? join(homedir(), given.slice(2)) : null
      const path = inHome ?? resolve(kind === 'settings' ? folder : top, given)
      found.set(`${kind} ${path}`, { path, kind })
      if (kind === 'settings' && depth < depthMax) queue.push({ file: path, depth: depth + 1 })
    }
  }
  return [...found.values()]
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )
