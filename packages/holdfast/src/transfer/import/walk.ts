import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** In a folder only these files are read; their content decides. */
const isCandidate = (name: string): boolean => /\.jsonl?$/i.test(name)
const depthMax = 20

/** A file to read, a path that is skipped and why, or a path that cannot be read. */
export type WalkedPath =
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'skipped'; readonly path: string; readonly why: string }
  | { readonly type: 'unread'; readonly path: string; readonly cause: unknown }

/** Walks a path in name order. A link is followed only if it was named itself, and otherwise skipped. */
export async function* walkPath(path: string): AsyncGenerator<WalkedPath> {
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

async function* walkFolder(path: string, depth: number): AsyncGenerator<WalkedPath> {
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
      if (await mayPointToSession(inner))
        yield { type: 'skipped', path: inner, why: 'is a link. Name it to import its target.' }
    } else if (depth < depthMax) yield* walkFolder(inner, depth + 1)
    else yield { type: 'skipped', path: inner, why: `is more than ${depthMax} folders deep.` }
  }
}

/** Returns whether a link may point to a session; other links are skipped silently. */
const mayPointToSession = async (path: string): Promise<boolean> =>
  isCandidate(path) ||
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  )
