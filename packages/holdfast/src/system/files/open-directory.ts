import { constants } from 'node:fs'
import { lstat, open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { ok, type Result, refuse } from '@holdfast/protocol'
import { systemErrorCode } from '../system-error.ts'
import { isInside, outsideWorkdir } from './resolve-path.ts'

/** An open directory: later changes to its path cannot redirect a write. */
export interface OpenDirectory extends AsyncDisposable {
  readonly absolute: string
  /** Returns the path of a name in it: through the open handle where the system has /proc. */
  at(name: string): string
  sync(): Promise<void>
}

/**
 * Opens a resolved directory. Refuses it if a component of its path has become a link since it was resolved.
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
