import { constants, type Stats } from 'node:fs'
import { access, lstat, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ToolContext } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { type OpenDirectory, openDirectory, statFile } from '../../../system/files/open-file.ts'
import { resolvePath, type WorkspacePath } from '../../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { refuseAlias, refuseBounded, refuseLinked, refuseMoved } from './bounded-files.ts'
import { findGitFolder, findNamedByGit } from './git-settings.ts'
import { findGuard, refuseOwn, refuseOwnFolder } from './guarded-path.ts'

/** Where a file tool may work. */
export type Place = Pick<ToolContext, 'workdir' | 'ownPaths' | 'boundaries'>

type Writable = {
  readonly path: WorkspacePath
  readonly stats: Stats | null
  /** Why a person is asked each time. */
  readonly alwaysAsk: string | null
}

/** Checks that a file may be written at `path`. Changes nothing. */
export async function findWritable({ workdir, ownPaths, boundaries }: Place, path: string): Promise<Result<Writable>> {
  const resolved = await resolvePath(workdir, path)
  if (!resolved.ok) return resolved
  const { absolute, shown } = resolved.value
  const own = await refuseOwn(resolved.value, ownPaths)
  if (!own.ok) return own
  const ownFolder = refuseOwnFolder(resolved.value)
  if (!ownFolder.ok) return ownFolder
  const found = await statFile(resolved.value)
  if (!found.ok) return found
  const linked = await refuseLinked(workdir, boundaries, resolved.value)
  if (!linked.ok) return linked
  const alias = await refuseAlias(workdir, boundaries, resolved.value)
  if (!alias.ok) return alias
  const moved = await refuseMoved(workdir, boundaries, resolved.value)
  if (!moved.ok) return moved
  const stats = found.value
  if (stats !== null) {
    // The rename would succeed all the same; a file made read-only is meant to stay as it is.
    const isReadOnly = await access(absolute, constants.W_OK).then(
      () => false,
      () => true,
    )
    if (isReadOnly) return refuse(fault('bad_request', `${escapeLine(shown)} is read-only`))
  }
  const alwaysAsk = (await findReason(resolved.value)) ?? hardLinks(shown, stats)
  return ok({ path: resolved.value, stats, alwaysAsk })
}

/** Returns why a person is asked each time before a file is made or changed at a path; null if no reason is known. */
export const findReason = async (path: WorkspacePath): Promise<string | null> =>
  findGuard(path.shown) ?? (await findNamedByGit(path)) ?? (await findGitFolder(path))

/** A file with other names may be one outside the workdir: it looks the same. */
const hardLinks = (shown: string, stats: Stats | null): string | null =>
  stats !== null && stats.nlink > 1
    ? `${escapeLine(shown)} has ${stats.nlink} hard links, and every one of them changes`
    : null

type Entry = { readonly path: WorkspacePath; readonly stats: Stats; readonly alwaysAsk: string | null }

/** Finds a file or link that a tool may remove. A link is the entry itself, not its target. */
export async function findEntry(place: Place, path: string): Promise<Result<Entry>> {
  const resolved = await findName(place, path)
  if (!resolved.ok) return resolved
  const { absolute, shown, missing } = resolved.value
  if (missing.length > 0) return refuse(fault('not_found', `${escapeLine(path)} does not exist`))
  const stats = await lstat(absolute)
  if (stats.isDirectory()) return refuse(fault('bad_request', `${escapeLine(shown)} is a directory, not a file`))
  if (!stats.isFile() && !stats.isSymbolicLink())
    return refuse(fault('bad_request', `${escapeLine(shown)} is not a regular file (a device, pipe or socket)`))
  return ok({ path: resolved.value, stats, alwaysAsk: await findReason(resolved.value) })
}

/** Resolves a name at which a tool may put or remove a file. A link at its end is not followed. */
export async function findName({ workdir, ownPaths, boundaries }: Place, path: string): Promise<Result<WorkspacePath>> {
  if (/(?:^|\/)\.{1,2}$/.test(path))
    return refuse(fault('bad_request', `${escapeLine(path)} must name a file, not a directory`))
  const resolved = await resolvePath(workdir, path, { followsLast: false })
  if (!resolved.ok) return resolved
  const own = await refuseOwn(resolved.value, ownPaths)
  if (!own.ok) return own
  const ownFolder = refuseOwnFolder(resolved.value)
  if (!ownFolder.ok) return ownFolder
  const bounded = refuseBounded(boundaries, resolved.value.shown)
  if (!bounded.ok) return bounded
  const linked = await refuseLinked(workdir, boundaries, resolved.value)
  if (!linked.ok) return linked
  const alias = await refuseAlias(workdir, boundaries, resolved.value)
  if (!alias.ok) return alias
  const moved = await refuseMoved(workdir, boundaries, resolved.value)
  return moved.ok ? resolved : moved
}

/** Opens the directory of a path. Makes those that are missing, inside the workdir. */
export async function openParent({ root, absolute, missing }: WorkspacePath): Promise<Result<OpenDirectory>> {
  const existing = missing.reduce((path) => dirname(path), absolute)
  let opened = await openDirectory(root, missing.length > 0 ? existing : dirname(absolute))
  for (const name of missing.slice(0, -1)) {
    if (!opened.ok) return opened
    await using directory = opened.value
    await mkdir(directory.at(name)).catch((error: unknown) => {
      if (systemErrorCode(error) !== 'EEXIST') throw error // another call made it meanwhile; opening it checks what it is
    })
    await directory.sync()
    opened = await openDirectory(root, join(directory.absolute, name))
  }
  return opened
}
