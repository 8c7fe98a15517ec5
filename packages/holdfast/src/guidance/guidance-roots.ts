import { dirname, isAbsolute, join } from 'node:path'
import { isInside } from '../system/files/resolve-path.ts'

/** What people keep in folders for the agent. */
export type GuidanceKind = 'skills' | 'commands' | 'agents'

/** A folder with files of one kind. */
export type GuidanceRoot = {
  readonly path: string
  /** Whose they are: those of a workspace come with its files. */
  readonly scope: 'workspace' | 'user'
  /** Links may not lead out of this folder; null for the user's own, which installers link to. */
  readonly within: string | null
}

export type GuidancePlaces = {
  readonly workdir: string
  /** The root of its repository, or the workdir itself. */
  readonly workspace: string
  readonly configDir: string
  readonly userDir: string
}

/** The folders that hold files of a kind, the first counting most. `.agents` is a convention for skills only. */
const dotFolders: Readonly<Record<GuidanceKind, readonly string[]>> = {
  skills: ['.holdfast', '.agents', '.claude'],
  commands: ['.holdfast', '.claude'],
  agents: ['.holdfast', '.claude'],
}

/** Returns the folders of a kind: those of the workspace from the workdir up to its root, then the user's own. */
export function listGuidanceRoots(
  kind: GuidanceKind,
  { workdir, workspace, configDir, userDir }: GuidancePlaces,
): readonly GuidanceRoot[] {
  const inHome = dotFolders[kind].filter((folder) => folder !== '.holdfast')
  const own = [join(configDir, kind), ...inHome.map((folder) => join(userDir, folder, kind))]
  const roots: GuidanceRoot[] = []
  // A session may have no folder yet; then it has no workspace.
  for (let folder = workdir; isAbsolute(folder) && isInside(workspace, folder); folder = dirname(folder)) {
    for (const name of dotFolders[kind]) {
      const path = join(folder, name, kind)
      // In a session of the home directory these are the user's own.
      if (!own.includes(path)) roots.push({ path, scope: 'workspace', within: workspace })
    }
    if (folder === dirname(folder)) break
  }
  return [...roots, ...own.map((path): GuidanceRoot => ({ path, scope: 'user', within: null }))]
}
