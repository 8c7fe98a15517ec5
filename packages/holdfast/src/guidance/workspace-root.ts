import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Returns the nearest folder with a `.git`, from a workdir upwards; the workdir itself if there is none. */
export async function findWorkspaceRoot(workdir: string): Promise<string> {
  for (let folder = workdir; ; folder = dirname(folder)) {
    // Only whether it is there: what it contains may name any other folder.
    if (await lstat(join(folder, '.git')).then(Boolean, () => false)) return folder
    if (folder === dirname(folder)) return workdir
  }
}
