import { basename, dirname, join, relative } from 'node:path'
import type { Result } from '@holdfast/protocol'
import { isInside } from '../../system/files/resolve-path.ts'
import { createParsedFiles, tooLong } from '../guidance-file.ts'
import type { GuidanceRoot } from '../guidance-roots.ts'
import { listFolder, realOrNull } from '../list-folder.ts'
import type { AgentFile } from './parse-agent.ts'

/** A kind of agent as it is on disk. */
export type AgentOnDisk = {
  readonly scope: GuidanceRoot['scope']
  /** The file, without links. */
  readonly path: string
  /** What it says, or why it cannot be read. */
  readonly file: Result<AgentFile>
}

const depthMax = 6
const filesMax = 500
const entriesMax = 5000

/** Finds the kinds of agents below folders: in the order of the folders, and in one folder by path. A file is found once. */
export function createAgentFinder() {
  const readFile = createParsedFiles(async ({ text, isCut }, path) => {
    const { parseAgent } = await import('./parse-agent.ts') // YAML is loaded for the first agent
    const parsed = parseAgent(basename(path, '.md'), text)
    return { ...parsed, problems: isCut ? [...parsed.problems, tooLong] : parsed.problems }
  })
  return async (roots: readonly GuidanceRoot[]): Promise<readonly AgentOnDisk[]> => {
    const found = await Promise.all(roots.map(findFiles))
    const seen = new Set<string>()
    const agents: AgentOnDisk[] = []
    for (const { path, scope } of found.flat()) {
      if (seen.has(path)) continue // two folders, or a link and its target
      seen.add(path)
      agents.push({ scope, path, file: await readFile(dirname(path), relative(dirname(path), path)) })
    }
    return agents
  }
}

async function findFiles({
  path: root,
  scope,
  within,
}: GuidanceRoot): Promise<readonly Pick<AgentOnDisk, 'path' | 'scope'>[]> {
  const found: Pick<AgentOnDisk, 'path' | 'scope'>[] = []
  const visited = new Set<string>()
  let left = entriesMax
  const visit = async (folder: string, depth: number): Promise<void> => {
    if (visited.has(folder) || (within !== null && !isInside(within, folder))) return
    visited.add(folder)
    const entries = await listFolder(folder, left)
    left -= entries.length
    for (const entry of entries) {
      const inner = join(folder, entry.name)
      const real = entry.isSymbolicLink() ? await realOrNull(inner) : inner
      if (real === null || found.length >= filesMax) continue
      const isAllowed = within === null || isInside(within, real)
      if (entry.name.endsWith('.md') && !entry.isDirectory()) {
        if (isAllowed) found.push({ path: real, scope })
      } else if (depth < depthMax && entry.name !== '.git' && entry.name !== 'node_modules')
        await visit(real, depth + 1)
    }
  }
  const real = await realOrNull(root)
  if (real !== null) await visit(real, 0)
  return found
}
