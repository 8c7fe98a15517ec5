import { dirname, join } from 'node:path'
import { findLinkStats } from './fast-stat.ts'
import { isInside } from './resolve-path.ts'

/**
 * Returns the nearest folder with a `.git`, from a workdir upwards; the workdir itself if there is none. The home directory of
 * a user who keeps it in git is no workspace of what lies below.
 */
export async function findWorkspaceRoot(workdir: string, userDir: string): Promise<string> {
  if (await hasGit(workdir)) return workdir
  // All at once: each step of a turn asks, and to ask one after the other takes longer.
  const above = foldersAbove(workdir).filter((folder) => !isInside(folder, userDir))
  const isRoot = await Promise.all(above.map(hasGit))
  return above.find((_, index) => isRoot[index]) ?? workdir
}

/** Returns the folders above a folder, the nearest first. */
function foldersAbove(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [] : [parent, ...foldersAbove(parent)]
}

/** Returns only whether there is a `.git`: what it contains may name any other folder. */
const hasGit = async (folder: string): Promise<boolean> => (await findLinkStats(join(folder, '.git'))) !== null
