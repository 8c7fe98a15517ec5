import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** In a folder only these are looked into; what is in them decides. */
const isCandidate = (name: string): boolean => /\.jsonl?$/i.test(name)
const depthMax = 20

/** The files of a path, in the order the folder gives them; a link is followed only where it was named itself. */
export async function* walk(path: string, depth = 0): AsyncGenerator<string> {
  if (depth === 0 && !(await stat(path)).isDirectory()) {
    yield path
    return
  }
  const names: { readonly name: string; readonly isDirectory: boolean }[] = []
  for await (const entry of await opendir(path)) {
    if (entry.isDirectory() && depth < depthMax) names.push({ name: entry.name, isDirectory: true })
    else if (entry.isFile() && isCandidate(entry.name)) names.push({ name: entry.name, isDirectory: false })
  }
  names.sort((left, right) => (left.name < right.name ? -1 : 1))
  for (const { name, isDirectory } of names) {
    if (isDirectory) yield* walk(join(path, name), depth + 1)
    else yield join(path, name)
  }
}
