import { constants } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { systemErrorCode } from '../../system/system-error.ts'
import { needsGit } from './program-settings.ts'

/** A repository in the folder `.git` of its work tree, whose configuration needs no further check. */
export type PlainRepository = {
  readonly top: string
  /** The path of the workdir in it: '' or one that ends with '/'. */
  readonly prefix: string
  readonly directory: string
  /** The whole text of its configuration. */
  readonly config: string
}

const configBytesMax = 64 * 1024

/**
 * Finds the repository of a workdir without starting git, which takes longer than all else for a small command. Returns null
 * if anything about it is unusual: then git has to be asked.
 */
export async function findPlainRepository(workdir: string): Promise<PlainRepository | null> {
  const top = await findTop(workdir)
  if (top === null) return null
  const directory = join(top, '.git')
  const [tree, found, head, common] = await Promise.all([
    ...[top, directory, join(directory, 'HEAD'), join(directory, 'commondir')].map(statOf),
  ])
  // Git refuses a repository of another user.
  const isOwn = [tree, found].every((stats) => stats?.isDirectory() && stats.uid === process.getuid?.())
  if (!isOwn || !head?.isFile() || common) return null
  const config = await readConfig(join(directory, 'config'))
  if (config === null || needsGit.test(config)) return null
  const below = relative(top, workdir)
  if (/^\.git(?:\/|$)/.test(below)) return null // not in the work tree
  return { top, prefix: below === '' ? '' : `${below}/`, directory, config }
}

/** Finds the work tree of a folder: the nearest folder above it with a `.git`. Null if there is none. */
export async function findTop(workdir: string): Promise<string | null> {
  for (let at = workdir; ; at = dirname(at)) {
    if (await statOf(join(at, '.git'))) return at
    if (at === dirname(at)) return null
  }
}

const statOf = (path: string) => lstat(path).catch(() => null)

/** Reads the configuration; empty if there is none, null if it is too long or no regular file. */
async function readConfig(path: string): Promise<string | null> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const opened = await open(path, flags).catch((error: unknown) => systemErrorCode(error) ?? 'unknown')
  if (typeof opened === 'string') return opened === 'ENOENT' ? '' : null
  await using handle = opened
  const stats = await handle.stat()
  if (!stats.isFile() || stats.size > configBytesMax) return null
  const text = await handle.readFile('utf8')
  return text.length > configBytesMax ? null : text // it may grow while it is read
}
