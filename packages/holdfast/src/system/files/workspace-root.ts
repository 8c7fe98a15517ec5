import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isInside } from './resolve-path.ts'

/**
 * Returns the nearest folder with a `.git`, from a workdir upwards; the workdir itself if there is none. The home directory of
 * a user who keeps it in git is no workspace of what lies below.
 */
export async function findWorkspaceRoot(workdir: string, userDir: string): Promise<string> {
  for (let folder = workdir; ; folder = dirname(folder)) {
    // Only whether it is there: what it contains may name any other folder.
    if (folder !== workdir && isInside(folder, userDir)) return workdir
    if (await lstat(join(folder, '.git')).then(Boolean, () => false)) return folder
    if (folder === dirname(folder)) return workdir
  }
}
