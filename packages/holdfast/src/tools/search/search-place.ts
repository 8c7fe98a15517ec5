import type { FileHandle } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { type OpenDirectory, openDirectory, openFile } from '../../system/files/open-file.ts'
import { listOwnPaths } from '../../system/files/own-paths.ts'
import { isInside, resolvePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { isInHoldfastFolder } from '../files/io/guarded-path.ts'

/** A pinned place to search: a directory, or one file. Renaming it after the check cannot redirect the search. */
export interface SearchPlace extends AsyncDisposable {
  /** The directory to run in, through its open handle where the system has /proc. */
  readonly cwd: string
  /** The real path of the directory. */
  readonly directory: string
  /** The open file, if the place is a file. */
  readonly file: FileHandle | null
  /** The real paths of the folders of Holdfast, which are never searched. */
  readonly own: readonly string[]
  /** The path of the place in the workdir: '' is the workdir itself, others end with '/', unless they are files. */
  readonly shown: string
}

/** Opens the place of a search. Refuses paths outside the workdir and in the folders of Holdfast. */
export async function openPlace(
  workdir: string,
  path: string,
  ownPaths: readonly OwnPath[],
): Promise<Result<SearchPlace>> {
  const resolved = await resolvePath(workdir, path)
  if (!resolved.ok) return resolved
  const { root, absolute, shown, missing } = resolved.value
  if (missing.length > 0) return refuse(fault('not_found', `${escapeLine(path)} does not exist`))
  const own = await listOwnPaths(root, ownPaths)
  const isOwn = own.some((one) => isInside(one, absolute)) || isInHoldfastFolder(shown)
  if (isOwn) return refuse(fault('bad_request', `${escapeLine(shown)} belongs to Holdfast itself and is not searched`))
  const asDirectory = await openDirectory(root, absolute).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOTDIR') return null
    throw error
  })
  if (asDirectory !== null) {
    if (!asDirectory.ok) return asDirectory
    return ok(placeOf(asDirectory.value, { file: null, own, shown: shown === '.' ? '' : `${shown}/` }))
  }
  const opened = await openFile(workdir, path)
  if (!opened.ok) return opened
  const parent = await openDirectory(root, dirname(absolute))
  if (parent.ok) return ok(placeOf(parent.value, { file: opened.value.handle, own, shown }))
  await opened.value.handle.close()
  return parent
}

const placeOf = (directory: OpenDirectory, about: Pick<SearchPlace, 'file' | 'own' | 'shown'>): SearchPlace => ({
  ...about,
  // A child resolves /proc/self to itself, so our own process is named.
  cwd: directory.at('.').replace('/proc/self/', `/proc/${process.pid}/`),
  directory: directory.absolute,
  async [Symbol.asyncDispose]() {
    await about.file?.close()
    await directory[Symbol.asyncDispose]()
  },
})

/** Returns whether a pattern names hidden files itself, as `.github/**` does. */
export const namesHidden = (pattern: string): boolean =>
  pattern.split('/').some((name) => /^[{]?\.[^./]/.test(basename(name)))
