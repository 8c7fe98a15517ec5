import { lstat, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { escapeLine } from '@holdfast/protocol'
import { namedPaths, readGitFile } from '../../../system/files/git-config.ts'
import { isInside, resolvePath, type WorkspacePath } from '../../../system/files/resolve-path.ts'

/** What the configuration of a repository names, by the folder of the work tree. It is read again once it has changed. */
const known = new Map<string, { readonly stamp: string; readonly paths: readonly string[] }>()
const knownMax = 100

/**
 * Returns why a change of this file is asked about each time: the repository's own configuration names it, or a folder above
 * it, as hooks (`core.hooksPath`) or as further settings (`include.path`). Null if it does not.
 */
export async function findNamedByGit({ root, shown }: WorkspacePath): Promise<string | null> {
  const paths = await readNamed(root)
  return paths.some((path) => shown === path || shown.startsWith(`${path}/`))
    ? `${escapeLine(shown)} is named by .git/config: it decides what git runs`
    : null
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

async function readNamed(root: string): Promise<readonly string[]> {
  const file = join(root, '.git', 'config')
  const stats = await stat(file, { bigint: true }).catch(() => null)
  if (!stats?.isFile()) return []
  const stamp = `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
  const found = known.get(root)
  if (found?.stamp === stamp) return found.paths
  const paths: string[] = []
  for (const { isHooks, path: value } of namedPaths(await readGitFile(file))) {
    const path = resolve(isHooks ? root : join(root, '.git'), value)
    const real = path !== root && isInside(root, path) ? await resolvePath(root, relative(root, path)) : null
    if (real?.ok) paths.push(real.value.shown)
  }
  if (known.size >= knownMax) known.clear()
  known.set(root, { stamp, paths })
  return paths
}
