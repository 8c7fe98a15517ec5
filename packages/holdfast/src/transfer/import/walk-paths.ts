import type { Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
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
    if ((await stat(path)).isDirectory()) yield* walkFolder(path, 0)
    else yield { type: 'file', path }
  } catch (cause) {
    yield { type: 'unread', path, cause }
  }
}

async function* walkFolder(folder: string, depth: number): AsyncGenerator<WalkedPath> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (cause) {
    yield { type: 'unread', path: folder, cause }
    return
  }
  for (const entry of entries.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (depth < depthMax) yield* walkFolder(path, depth + 1)
      else yield { type: 'skipped', path, why: `is more than ${depthMax} folders deep.` }
    } else if (entry.isSymbolicLink()) {
      if (await mayPointToSession(path))
        yield { type: 'skipped', path, why: 'is a link. Name it to import its target.' }
    } else if (entry.isFile() && isCandidate(entry.name)) yield { type: 'file', path }
  }
}

/** Returns whether a link may point to a session; other links are skipped silently. */
const mayPointToSession = async (path: string): Promise<boolean> =>
  isCandidate(path) || ((await stat(path).catch(() => null))?.isDirectory() ?? false)
