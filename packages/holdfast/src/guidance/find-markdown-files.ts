import { basename, join } from 'node:path'
import { isInside } from '../system/files/resolve-path.ts'
import type { GuidanceRoot } from './guidance-roots.ts'
import { existsIn, listFolder, realOrNull } from './list-folder.ts'

/** A Markdown file of a folder of guidance. */
export type MarkdownPath = {
  readonly scope: GuidanceRoot['scope']
  /** The file, without links. */
  readonly path: string
  /** The names of the folders that lead to it, and its own without `.md`. */
  readonly names: readonly string[]
}

const depthMax = 6
const filesMax = 1000
const entriesMax = 5000
const skipped = new Set(['.git', 'node_modules'])

type Accept = (names: readonly string[]) => boolean

/**
 * Finds the Markdown files below folders whose names are accepted: in the order of the folders, and in one folder by path. A file
 * is found once.
 */
export async function findMarkdownFiles(
  roots: readonly GuidanceRoot[],
  accept: Accept = () => true,
): Promise<readonly MarkdownPath[]> {
  const found = await Promise.all(roots.map((root) => findBelow(root, accept)))
  const seen = new Set<string>()
  return found.flat().filter(({ path }) => !seen.has(path) && seen.add(path)) // two folders, or a link and its target
}

async function findBelow(
  { path: root, scope, within }: GuidanceRoot,
  accept: Accept,
): Promise<readonly MarkdownPath[]> {
  const found: MarkdownPath[] = []
  const visited = new Set<string>()
  let left = entriesMax
  const isAllowed = (path: string) => within === null || isInside(within, path)
  const visit = async (folder: string, above: readonly string[]): Promise<void> => {
    if (visited.has(folder) || !isAllowed(folder)) return
    visited.add(folder)
    const entries = await listFolder(folder, left)
    left -= entries.length
    for (const entry of entries) {
      const inner = join(folder, entry.name)
      const path = entry.isSymbolicLink() ? await realOrNull(inner) : inner
      if (path === null || found.length >= filesMax) continue
      const names = [...above, basename(entry.name, '.md')]
      if (entry.name.endsWith('.md') && !entry.isDirectory()) {
        if (isAllowed(path) && accept(names)) found.push({ scope, path, names })
      } else if (above.length < depthMax && !skipped.has(entry.name)) await visit(path, [...above, entry.name])
    }
  }
  const real = (await existsIn(root)) ? await realOrNull(root) : null
  if (real !== null) await visit(real, [])
  return found
}
