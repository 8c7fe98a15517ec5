import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** In a folder only these are looked into; what is in them decides. */
const isCandidate = (name: string): boolean => /\.jsonl?$/i.test(name)
const depthMax = 20

/** A file to look into, what is passed over and why, or a folder that cannot be read. */
export type Found =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'passed'; readonly path: string; readonly why: string }
  | { readonly type: 'unread'; readonly path: string; readonly cause: unknown }

/** What a path holds, by name; a link is followed only where it was named itself, and otherwise passed over. */
export async function* walk(path: string): AsyncGenerator<Found> {
  try {
    if (!(await stat(path)).isDirectory()) {
      yield { type: 'file', path }
      return
    }
  } catch (cause) {
    yield { type: 'unread', path, cause }
    return
  }
  yield* walkFolder(path, 0)
}

type Kind = 'folder' | 'file' | 'link'

async function* walkFolder(path: string, depth: number): AsyncGenerator<Found> {
  const names: { readonly name: string; readonly kind: Kind }[] = []
  try {
    for await (const entry of await opendir(path)) {
      const { name } = entry
      if (entry.isDirectory()) names.push({ name, kind: 'folder' })
      else if (entry.isSymbolicLink()) names.push({ name, kind: 'link' })
      else if (entry.isFile() && isCandidate(name)) names.push({ name, kind: 'file' })
    }
  } catch (cause) {
    yield { type: 'unread', path, cause }
    return
  }
  names.sort((left, right) => (left.name < right.name ? -1 : 1))
  for (const { name, kind } of names) {
    const inner = join(path, name)
    if (kind === 'file') yield { type: 'file', path: inner }
    else if (kind === 'link') {
      if (await mayLeadToSession(inner))
        yield { type: 'passed', path: inner, why: 'is a link; name it to import what it leads to.' }
    } else if (depth < depthMax) yield* walkFolder(inner, depth + 1)
    else yield { type: 'passed', path: inner, why: `lies more than ${depthMax} folders deep.` }
  }
}

/** A link to any other file is as little worth a word as that file. */
const mayLeadToSession = async (path: string): Promise<boolean> =>
  isCandidate(path) ||
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
