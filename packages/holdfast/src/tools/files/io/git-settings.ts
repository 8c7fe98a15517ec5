import { lstat, stat } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { escapeLine } from '@holdfast/protocol'
import { readGitFile } from '../../../system/files/git-config.ts'
import { findWorkTrees, listNamedByGit } from '../../../system/files/named-by-git.ts'
import { isInside, resolvePath, type WorkspacePath } from '../../../system/files/resolve-path.ts'

/** What the settings of a repository name. They are read again once one of their files has changed. */
type Named = { readonly files: readonly Watched[]; readonly paths: readonly string[] }
/** A file of settings, and what it looked like when it was read. */
type Watched = { readonly file: string; readonly stamp: string }

/** What settings name, by the workdir and the top of the work tree. */
const known = new Map<string, Named>()
const knownMax = 100

/**
 * Returns why a change of this file is asked about each time: the settings of a repository that it is in name it, or a folder
 * above it, as hooks (`core.hooksPath`), as a program (`core.fsmonitor`) or as further settings (`include.path`). Null if they
 * do not.
 */
export async function findNamedByGit({ root, shown }: WorkspacePath): Promise<string | null> {
  for (const top of await findWorkTrees(dirname(join(root, shown)))) {
    const paths = await readNamed(root, top)
    if (paths.some((path) => shown === path || shown.startsWith(`${path}/`)))
      return `${escapeLine(shown)} is named by .git/config or what it includes: it decides what git runs`
  }
  return null
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
  const paths: string[] = []
  for (const { path } of await listNamedByGit(top, read)) {
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
