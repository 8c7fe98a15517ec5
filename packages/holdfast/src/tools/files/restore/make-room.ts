import { lstat, readdir, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { openDirectory } from '../../../system/files/open-file.ts'
import type { WorkspacePath } from '../../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { findName, type Place } from '../io/workspace-file.ts'

/** Whether nothing can be at a path, because one of its folders is a file now. */
export const isBelowFile = (workdir: string, path: string): Promise<boolean> =>
  lstat(join(workdir, path)).then(
    () => false,
    (error: unknown) => systemErrorCode(error) === 'ENOTDIR',
  )

/**
 * Resolves a path as `findName` does. If a file in place of one of its folders is removed first, as `clears` says, the path
 * counts as one that does not exist yet.
 */
export async function findCleared(
  place: Place,
  path: string,
  clears: readonly string[],
): Promise<Result<WorkspacePath>> {
  const found = await findName(place, path)
  const inTheWay = clears.find((one) => path.startsWith(`${one}/`))
  if (found.ok || inTheWay === undefined || !(await isBelowFile(place.workdir, path))) return found
  const file = await findName(place, inTheWay)
  if (!file.ok) return file
  const { root, absolute, shown, links } = file.value
  const names = path.slice(inTheWay.length + 1).split('/')
  const missing = [basename(absolute), ...names]
  return ok({ root, absolute: join(absolute, ...names), shown: [shown, ...names].join('/'), missing, links })
}

/** Checks that a folder holds nothing but files that are removed first, and folders. Changes nothing. */
export async function checkFolder(path: WorkspacePath, clears: readonly string[]): Promise<Result<null>> {
  const known = new Set(clears)
  const entries = await readdir(path.absolute, { recursive: true, withFileTypes: true })
  for (const entry of entries) {
    if (entry.isDirectory()) continue
    const shown = `${path.shown}${join(entry.parentPath, entry.name).slice(path.absolute.length)}`
    if (known.has(shown)) continue
    const message = `a folder is there now, with files that this session did not put there: ${escapeLine(shown)}`
    return refuse(fault('bad_request', message))
  }
  return ok(null)
}

/** Removes a folder in which there are only folders. Anything else in it is an error, and stays. */
export async function removeFolder({
  root,
  absolute,
}: Pick<WorkspacePath, 'root' | 'absolute'>): Promise<Result<null>> {
  for (const entry of await readdir(absolute, { withFileTypes: true })) {
    if (!entry.isDirectory()) continue // the folder is not empty then, and stays
    const removed = await removeFolder({ root, absolute: join(absolute, entry.name) })
    if (!removed.ok) return removed
  }
  const opened = await openDirectory(root, dirname(absolute))
  if (!opened.ok) return opened
  await using parent = opened.value
  await rmdir(parent.at(basename(absolute)))
  await parent.sync()
  return ok(null)
}
