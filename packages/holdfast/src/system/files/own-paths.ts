import { readdir, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { isInside, type WorkspacePath } from './resolve-path.ts'

/** Returns whether a path of the workdir belongs to Holdfast itself. */
export async function isOwn({ root, absolute }: WorkspacePath, own: readonly OwnPath[]): Promise<boolean> {
  const paths = own.map((one) => (typeof one === 'string' ? one : one.directory))
  const reals = await Promise.all(paths.map(realOf))
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
