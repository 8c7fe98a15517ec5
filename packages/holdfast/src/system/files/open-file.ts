import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { systemErrorCode } from '../system-error.ts'
import { isInside, outsideWorkdir, resolvePath, type WorkspacePath } from './resolve-path.ts'

/** An open directory: later changes to its path cannot redirect a write. */
export interface OpenDirectory extends AsyncDisposable {
  readonly absolute: string
  /** Whether names in it are reached through the open handle. */
  readonly isPinned: boolean
  /** Returns the path of a name in it: through the open handle where the system has /proc. */
  at(name: string): string
  sync(): Promise<void>
}

/** Opens a resolved directory. Refuses it if a component of its path has become a link since it was resolved. */
export async function openDirectory(root: string, absolute: string): Promise<Result<OpenDirectory>> {
  let handle: FileHandle
  try {
    handle = await open(absolute, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    const isLink = systemErrorCode(error) !== null && (await lstat(absolute).catch(() => null))?.isSymbolicLink()
    if (isLink) return refuse(outsideWorkdir(absolute))
    throw error
  }
  const throughHandle = `/proc/self/fd/${handle.fd}`
  const seen = await readlink(throughHandle).catch(() => null)
  const real = seen ?? (await realpath(absolute).catch(() => null))
  if (real !== absolute || !isInside(root, real)) {
    await handle.close()
    return refuse(outsideWorkdir(absolute))
  }
  return ok({
    absolute,
    isPinned: seen !== null,
    at: (name) => join(seen === null ? absolute : throughHandle, name),
    sync: () => handle.sync(),
    [Symbol.asyncDispose]: () => handle.close(),
  })
}

/** A regular file that is open for reading. The caller closes the handle. */
export type OpenFile = { readonly handle: FileHandle; readonly stats: Stats }

const notAFile = (shown: string, stats: Stats) =>
  fault(
    'bad_request',
    stats.isDirectory()
      ? `${escapeLine(shown)} is a directory, not a file`
      : `${escapeLine(shown)} is not a regular file (a device, pipe or socket)`,
  )

/** Returns the stats of a regular file, or null if nothing exists there. Refuses anything else without opening it. */
export async function statFile(target: WorkspacePath): Promise<Result<Stats | null>> {
  if (target.missing.length > 0) return ok(null)
  const stats = target.stats ?? (await lstat(target.absolute))
  return stats.isFile() ? ok(stats) : refuse(notAFile(target.shown, stats))
}

/** Finds a regular file of the workdir. Opens nothing. */
export async function findFile(workdir: string, path: string): Promise<Result<WorkspacePath>> {
  const resolved = await resolvePath(workdir, path)
  if (!resolved.ok) return resolved
  const found = await statFile(resolved.value)
  if (!found.ok) return found
  return found.value === null ? refuse(fault('not_found', `${escapeLine(path)} does not exist`)) : resolved
}

/** Opens a regular file of the workdir for reading. The caller closes the handle. */
export async function openFile(
  workdir: string,
  path: string,
): Promise<Result<OpenFile & { readonly path: WorkspacePath }>> {
  const found = await findFile(workdir, path)
  if (!found.ok) return found
  const target = found.value
  const direct = await openDirectly(target)
  if (direct !== null) return direct.ok ? ok({ ...direct.value, path: target }) : direct
  const opened = await openDirectory(target.root, dirname(target.absolute))
  if (!opened.ok) return opened
  await using directory = opened.value
  const leaf = await openLeaf(directory, basename(target.absolute), target.shown)
  return leaf.ok ? ok({ ...leaf.value, path: target }) : leaf
}

/** Opens nothing: a pipe does not wait for a writer, and a device notices nothing. Node has no name for it. */
const pinFlag = process.platform === 'linux' ? 0o10000000 : 0

/**
 * Opens a resolved file for reading. It is pinned first, as by `openLeaf`; then the system says where it really is. Null if
 * that is elsewhere, or unknown: its directory was changed since, or the file was.
 */
async function openDirectly({ absolute, shown }: WorkspacePath): Promise<Result<OpenFile> | null> {
  if (pinFlag === 0) return null
  const pinned = await open(absolute, constants.O_NOFOLLOW | pinFlag).catch(() => null)
  if (pinned === null) return null
  try {
    const through = `/proc/self/fd/${pinned.fd}`
    const [real, stats] = await Promise.all([readlink(through).catch(() => null), pinned.stat()])
    if (real !== absolute) return null
    return stats.isFile() ? ok({ handle: await open(through, reading), stats }) : refuse(notAFile(shown, stats))
  } finally {
    closeLater(pinned)
  }
}

/** Closes a handle that was only read from. Nothing waits for it, and nothing is lost if that fails. */
export function closeLater(handle: FileHandle): void {
  handle.close().catch(() => undefined)
}

const reading = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY

/**
 * Opens a regular file of an open directory for reading. It is pinned first, so that nothing else is ever opened. Links
 * are not followed. Without /proc it is opened without waiting, and then checked.
 */
export async function openLeaf(directory: OpenDirectory, name: string, shown: string): Promise<Result<OpenFile>> {
  const isPinned = pinFlag !== 0 && directory.isPinned
  if (!isPinned) {
    const handle = await open(directory.at(name), constants.O_NOFOLLOW | reading)
    const stats = await handle.stat()
    if (stats.isFile()) return ok({ handle, stats })
    await handle.close()
    return refuse(notAFile(shown, stats))
  }
  await using pinned = await open(directory.at(name), constants.O_NOFOLLOW | pinFlag)
  const stats = await pinned.stat()
  if (!stats.isFile()) return refuse(notAFile(shown, stats))
  return ok({ handle: await open(`/proc/self/fd/${pinned.fd}`, reading), stats })
}
