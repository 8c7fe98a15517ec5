import { lstat, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { escapeLine } from '@holdfast/protocol'
import { namedPaths, readGitFile } from '../../../system/files/git-config.ts'
import { isInside, resolvePath, type WorkspacePath } from '../../../system/files/resolve-path.ts'

/** What the settings of a repository name. They are read again once one of their files has changed. */
type Named = { readonly files: readonly Watched[]; readonly paths: readonly string[] }
/** A file of settings, and what it looked like when it was read. */
type Watched = { readonly file: string; readonly stamp: string }

/** What settings name, by the workdir and the top of the work tree. */
const known = new Map<string, Named>()
const knownMax = 100
/** How many files of settings of a repository are read, and how deep they include each other. */
const filesMax = 50
const depthMax = 10
/** How many repositories in each other are looked at. */
const topsMax = 5

/**
 * Returns why a change of this file is asked about each time: the settings of a repository that it is in name it, or a folder
 * above it, as hooks (`core.hooksPath`), as a program (`core.fsmonitor`) or as further settings (`include.path`). Null if they
 * do not.
 */
export async function findNamedByGit({ root, shown }: WorkspacePath): Promise<string | null> {
  for (const top of await findTops(dirname(join(root, shown)))) {
    const paths = await readNamed(root, top)
    if (paths.some((path) => shown === path || shown.startsWith(`${path}/`)))
      return `${escapeLine(shown)} is named by .git/config or what it includes: it decides what git runs`
  }
  return null
}

/** Finds the folders with a `.git` from a folder upwards. The session may be in a subfolder of the work tree. */
async function findTops(folder: string): Promise<readonly string[]> {
  const folders = [folder]
  for (let at = folder; at !== dirname(at); at = dirname(at)) folders.push(dirname(at))
  const hasGit = await Promise.all(folders.map((one) => exists(join(one, '.git'))))
  return folders.filter((_, index) => hasGit[index]).slice(0, topsMax)
}

/**
 * Returns why a change of this file is asked about each time: it is in a folder of git that has another name than `.git`, as
 * with a separate git folder, or would make one of its folders such a one. Null if it is not.
 */
export async function findGitFolder({ root, shown }: WorkspacePath): Promise<string | null> {
  const names = shown.split('/')
  for (const [index, next] of names.entries()) {
    const folder = join(root, ...names.slice(0, index))
    const has = async (name: string) => next.toLowerCase() === name || (await exists(join(folder, name)))
    if (!(await has('refs'))) continue // no other folder of a project has both
    if ((await has('objects')) || (await exists(join(folder, 'commondir'))))
      return `${escapeLine(shown)} is in a folder of git: it decides what git runs`
  }
  return null
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** Reads which paths of the workdir the settings of a repository name. */
async function readNamed(root: string, top: string): Promise<readonly string[]> {
  const key = `${root}\0${top}`
  const found = known.get(key)
  if (found && (await isUnchanged(found.files))) return found.paths
  const files: Watched[] = []
  const read = async (file: string): Promise<string> => {
    files.push({ file, stamp: await stampOf(file) })
    return readGitFile(file)
  }
  const named = await listNamed(top, read)
  const paths: string[] = []
  for (const path of named) {
    const real = path !== root && isInside(root, path) ? await resolvePath(root, relative(root, path)) : null
    if (real?.ok) paths.push(real.value.shown)
  }
  if (known.size >= knownMax) known.clear()
  known.set(key, { files, paths })
  return paths
}

async function isUnchanged(files: readonly Watched[]): Promise<boolean> {
  const stamps = await Promise.all(files.map(({ file }) => stampOf(file)))
  return files.every(({ stamp }, index) => stamp === stamps[index])
}

async function stampOf(file: string): Promise<string> {
  const stats = await stat(file, { bigint: true }).catch(() => null)
  return stats === null ? '' : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
}

/** Lists the paths that the settings of a repository name: in its `config`, in `config.worktree`, and in what these include. */
async function listNamed(top: string, read: (file: string) => Promise<string>): Promise<ReadonlySet<string>> {
  const link = join(top, '.git')
  const isFolder = (await stat(link).catch(() => null))?.isDirectory() ?? false
  const [, target] = isFolder ? [] : (/^gitdir: (.+)\n?$/.exec(await read(link)) ?? [])
  const own = target === undefined ? link : resolve(top, target)
  const shared = (await read(join(own, 'commondir'))).trimEnd()
  const common = shared === '' ? own : resolve(own, shared)
  const queue = [join(common, 'config'), join(own, 'config.worktree')].map((file) => ({ file, depth: 0 }))
  const paths = new Set<string>()
  const seen = new Set<string>()
  for (const { file, depth } of queue) {
    if (seen.has(file) || seen.size >= filesMax) continue
    seen.add(file)
    for (const { isHooks, isProgram, path } of namedPaths(await read(file))) {
      const named = /^~\//.test(path)
        ? join(homedir(), path.slice(2))
        : resolve(isHooks || isProgram ? top : dirname(file), path)
      paths.add(named)
      if (!isHooks && !isProgram && depth < depthMax) queue.push({ file: named, depth: depth + 1 })
    }
  }
  return paths
}
