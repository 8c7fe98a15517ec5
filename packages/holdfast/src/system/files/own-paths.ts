import { readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { isInside, type WorkspacePath } from './resolve-path.ts'

const directoryOf = (own: OwnPath): string => (typeof own === 'string' ? own : own.directory)

/** Finds where the paths of Holdfast really are. Never rejects. Begun before a path is resolved, it takes no time of its own. */
export const findReals = (own: readonly OwnPath[]): Promise<readonly string[]> =>
  Promise.all(own.map((one) => realOf(directoryOf(one))))

/** Returns whether a path of the workdir belongs to Holdfast itself. */
export async function isOwn(
  { root, absolute }: WorkspacePath,
  own: readonly OwnPath[],
  found: Promise<readonly string[]> = findReals(own),
): Promise<boolean> {
  const paths = own.map(directoryOf)
  const reals = await found
  for (const [index, one] of own.entries()) {
    for (const place of new Set([paths[index], reals[index]])) {
      if (place === undefined) continue
      if (!isInside(place, absolute)) continue
      if (typeof one === 'string' || !isInside(place, root)) return true
      const [name = ''] = relative(place, absolute).split(sep)
      if (one.names.test(name)) return true
    }
  }
  return false
}

/** Returns the real paths that belong to Holdfast; of a directory around the workdir, the entries that are ours. */
export async function listOwnPaths(root: string, own: readonly OwnPath[]): Promise<readonly string[]> {
  const lists = own.map(async (one) => {
    if (typeof one === 'string') return [await realOf(one)]
    const directory = await realOf(one.directory)
    if (!isInside(directory, root)) return [directory]
    const names = await readdir(directory).catch(() => [])
    return names.filter((name) => one.names.test(name)).map((name) => join(directory, name))
  })
  return (await Promise.all(lists)).flat()
}

const realOf = (path: string): Promise<string> => realpath(path).catch(() => path)
