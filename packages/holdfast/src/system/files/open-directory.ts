import { constants } from 'node:fs'
import { lstat, open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result, refuse } from '@holdfast/protocol'
import { systemErrorCode } from '../system-error.ts'
import { isInside, outsideWorkdir } from './resolve-path.ts'

/** A directory held open, so that what happens to its path afterwards cannot lead a write astray. */
export interface OpenDirectory extends AsyncDisposable {
  readonly absolute: string
  /** A path for one name in it. Where the system has /proc it goes through the open handle, not through the path. */
  at(name: string): string
  sync(): Promise<void>
}

/**
 * Opens a directory that was resolved before, and refuses it if it is no longer the one that was meant:
 * a component may have become a link between the check and the use.
 */
export async function openDirectory(root: string, absolute: string): Promise<Result<OpenDirectory>> {
  let handle: Awaited<ReturnType<typeof open>>
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
    at: (name) => join(seen === null ? absolute : throughHandle, name),
    sync: () => handle.sync(),
    [Symbol.asyncDispose]: () => handle.close(),
  })
}
