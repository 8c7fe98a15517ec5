import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

/** A folder of source files, by its path from the root of the repo, and the folders it imports from, types included. */
export type Room = { readonly path: string; readonly files: readonly string[]; readonly imports: ReadonlySet<string> }

const isTest = (path: string) => /\.(test|test-d|fixture)\.tsx?$|\/testing\//.test(path)
const specifiers = /(?:from|import|import\(|new URL\()\s*['"]([^'"]+)['"]/g

/** Reads every source folder of the packages. Imports from another package count as imports from the exported file's folder. */
export function readRooms(): readonly Room[] {
  const files = globSync('packages/*/src/**/*.{ts,tsx}', { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !isTest(path))
    .toSorted()
  const folders = new Set(files.map((path) => posix.dirname(path)))
  const exported = readExports()
  const imports = new Map([...folders].map((folder) => [folder, new Set<string>()]))
  for (const file of files) {
    const from = roomOf(file, folders)
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(specifiers)) {
      const target = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : exported.get(specifier)
      if (target === undefined || !files.includes(target)) continue
      const to = roomOf(target, folders)
      if (to !== from) imports.get(from)?.add(to)
    }
  }
  return [...folders].map((path) => ({
    path,
    files: files.filter((file) => posix.dirname(file) === path),
    imports: imports.get(path) ?? new Set(),
  }))
}

/** Returns the room a file belongs to. `decide.ts` beside `decide/` belongs to `decide/`. */
function roomOf(file: string, folders: ReadonlySet<string>): string {
  const folder = file.replace(/\.tsx?$/, '')
  return folders.has(folder) ? folder : posix.dirname(file)
}

/** Maps what other packages import, such as `@holdfast/core/ports`, to the file that is exported. */
function readExports(): ReadonlyMap<string, string> {
  return new Map(
    globSync('packages/*/package.json', { cwd: root }).flatMap((path) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8'))
      return Object.entries(exports as Record<string, string>).map(([subpath, file]): [string, string] => [
        posix.join(name, subpath),
        relative(root, join(root, dirname(path), file)).replaceAll('\\', '/'),
      ])
    }),
  )
}

/** Returns every group of rooms that import each other in a circle. */
export function findCycles(rooms: readonly Room[]): readonly (readonly string[])[] {
  const reached = new Map(rooms.map(({ path }) => [path, reachableFrom(path, rooms)]))
  const groups = rooms.map(({ path }) =>
    [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).toSorted(),
  )
  return [...new Map(groups.filter((group) => group.length > 0).map((group) => [group.join(), group])).values()]
}

/** Returns the rooms that a room imports, directly or through others. */
export function reachableFrom(path: string, rooms: readonly Room[]): ReadonlySet<string> {
  const byPath = new Map(rooms.map((room) => [room.path, room]))
  const reached = new Set<string>()
  const waiting = [path]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const imported of byPath.get(next)?.imports ?? []) {
      if (reached.has(imported)) continue
      reached.add(imported)
      waiting.push(imported)
    }
  }
  return reached
}
