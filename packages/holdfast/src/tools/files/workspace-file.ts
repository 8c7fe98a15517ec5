import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, type FileHandle, link, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type BlobHash, escapeLine, type FileChange, fault, ok, type Result, refuse } from '@holdfast/protocol'
import { type OpenDirectory, openDirectory, statFile } from '../../system/files/open-file.ts'
import { resolvePath, type WorkspacePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { hashAt, hashContent } from './file-content.ts'

type Writable = { readonly path: WorkspacePath; readonly stats: Stats | null }

/** Checks that a file may be written at `path`. Changes nothing. */
export async function findWritable(workdir: string, path: string): Promise<Result<Writable>> {
  const resolved = await resolvePath(workdir, path)
  if (!resolved.ok) return resolved
  const { absolute, shown } = resolved.value
  if (shown.split('/').some(isOwnFolder))
    return refuse(fault('bad_request', `${escapeLine(shown)} belongs to Holdfast itself and is not written by tools`))
  const stats = await statFile(resolved.value)
  if (!stats.ok) return stats
  if (stats.value !== null) {
    // The rename would succeed all the same; a file made read-only is meant to stay as it is.
    const isReadOnly = await access(absolute, constants.W_OK).then(
      () => false,
      () => true,
    )
    if (isReadOnly) return refuse(fault('bad_request', `${escapeLine(shown)} is read-only`))
  }
  return ok({ path: resolved.value, stats: stats.value })
}

type ReplaceOptions = {
  readonly signal: AbortSignal
  /** The content that may be replaced; any, if absent. */
  readonly expected?: BlobHash | undefined
}

/**
 * Writes `content` to `path` atomically. Creates missing directories inside the workdir. If the file does not have the
 * expected content directly before the change, nothing is written.
 */
export async function replaceFile(
  workdir: string,
  path: string,
  content: string,
  { signal, expected }: ReplaceOptions,
): Promise<Result<FileChange>> {
  const found = await findWritable(workdir, path)
  if (!found.ok) return found
  const {
    stats,
    path: { absolute, shown },
  } = found.value
  const opened = await openParent(found.value.path)
  if (!opened.ok) return opened
  await using parent = opened.value
  const name = basename(absolute)

  const occupant = await lstat(parent.at(name)).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  })
  if (occupant !== null && !occupant.isFile())
    return refuse(fault('bad_request', `${escapeLine(shown)} is no longer a regular file`))

  const isExpected = async () => expected === undefined || (await hashAt(parent.at(name), shown)) === expected
  const bytes = Buffer.from(content)
  const isNew = expected === hashContent(shown, null)
  const written = await writeBeside(parent, name, bytes, { stats: occupant ?? stats, signal, isExpected, isNew })
  if (written === 'aborted') return refuse(fault('bad_request', 'aborted before anything was written'))
  if (written === 'changed') return refuse(contentChanged(shown))
  return ok({
    path: shown,
    change: occupant === null ? 'created' : 'modified',
    contentHash: hashContent(shown, bytes),
  })
}

const contentChanged = (shown: string) =>
  fault(
    'content_changed',
    `${escapeLine(shown)} changed after this call was prepared; nothing was written. Read it again.`,
  )

async function openParent({ root, absolute, missing }: WorkspacePath): Promise<Result<OpenDirectory>> {
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

type Beside = {
  readonly stats: Stats | null
  readonly signal: AbortSignal
  readonly isExpected: () => Promise<boolean>
  /** Whether nothing may exist at the name yet. */
  readonly isNew: boolean
}

async function writeBeside(
  parent: OpenDirectory,
  name: string,
  content: Uint8Array,
  { stats, signal, isExpected, isNew }: Beside,
): Promise<'written' | 'aborted' | 'changed'> {
  const temporary = parent.at(`.${randomUUID()}.tmp`) // not derived from `name`, which may already have the maximum length
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  await using handle = await open(temporary, flags, stats === null ? 0o666 : 0o600)
  let isMoved = false
  try {
    await handle.writeFile(content)
    if (stats !== null) await keepOwnerAndMode(handle, stats)
    await handle.sync()
    if (signal.aborted) return 'aborted'
    if (!(await isExpected())) return 'changed' // as late as possible: nothing locks the file
    isMoved = await move(temporary, parent.at(name), isNew)
    if (!isMoved) return 'changed'
    await parent.sync()
    return 'written'
  } finally {
    if (!isMoved) await unlink(temporary).catch(() => undefined) // the first failure is the one to report
  }
}

/** Moves a file. Returns false if nothing may exist at the new path and something does. */
async function move(from: string, to: string, isNew: boolean): Promise<boolean> {
  if (isNew) {
    const linked = await link(from, to).then(
      () => 'linked',
      (error: unknown) => systemErrorCode(error), // some file systems have no links
    )
    if (linked === 'EEXIST') return false
    if (linked === 'linked') {
      await unlink(from)
      return true
    }
  }
  await rename(from, to)
  return true
}

async function keepOwnerAndMode(handle: FileHandle, stats: Stats): Promise<void> {
  const now = await handle.stat()
  if (now.uid !== stats.uid || now.gid !== stats.gid) await handle.chown(stats.uid, stats.gid).catch(() => undefined) // only root may change it; the content matters more
  await handle.chmod(stats.mode & 0o777)
}

// Some file systems fold case, compose characters and skip what cannot be seen when they compare names.
const unseen = /\p{Default_Ignorable_Code_Point}/gu

/** Returns whether a name is `.holdfast`: it holds hooks and permissions, so an agent that writes there could approve itself. */
const isOwnFolder = (name: string) => name.replace(unseen, '').normalize('NFKC').toLowerCase() === '.holdfast'
