import type { PathChange } from './path-change.ts'

/** Two paths that are put back together. */
type Link = { readonly path: string; readonly movedFrom: string }

/** Returns the folders of a path, the nearest first. */
function foldersOf(path: string): readonly string[] {
  const folders: string[] = []
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) folders.push(path.slice(0, at))
  return folders
}

/** Links a file with those in a folder of the same name: they cannot be there at one time. */
export function linkNames(changes: readonly PathChange[]): readonly Link[] {
  const paths = new Set(changes.map(({ path }) => path))
  return [...paths].flatMap((path) =>
    foldersOf(path).flatMap((folder) => (paths.has(folder) ? [{ path, movedFrom: folder }] : [])),
  )
}

/** Returns a function that lists the paths above and below a path that belong together with it. */
export function listNames(together: readonly (readonly string[])[]): (path: string) => readonly string[] {
  const near = new Map<string, string[]>()
  const add = (path: string, other: string): void => {
    const known = near.get(path)
    if (known) known.push(other)
    else near.set(path, [other])
  }
  for (const linked of together) {
    const paths = new Set(linked)
    for (const path of paths)
      for (const folder of foldersOf(path))
        if (paths.has(folder)) {
          add(path, folder)
          add(folder, path)
        }
  }
  return (path) => near.get(path) ?? []
}

/**
 * Links a new file with one that is gone and had its content: it was copied, and the copy may be all that is left. Such a
 * copy is not deleted unless the other one comes back.
 */
export function linkContents(changes: readonly PathChange[]): readonly Link[] {
  const byPath = Map.groupBy(changes, ({ path }) => path)
  const gone = new Map<string, string>()
  for (const [path, all] of byPath) {
    const before = all[0]?.before
    if (before?.type === 'file' && all.at(-1)?.after?.type !== 'file') gone.set(before.hash, path)
  }
  return [...byPath].flatMap(([path, all]) => {
    const after = all.at(-1)?.after
    const source = all[0]?.before.type === 'absent' && after?.type === 'file' ? gone.get(after.hash) : undefined
    return source === undefined ? [] : [{ path, movedFrom: source }]
  })
}
