import { constants as bufferConstants } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { access, type FileHandle, lstat, mkdir, open, rename, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { escapeLine, type FileChange, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { type OpenDirectory, openDirectory, openFile, statFile } from '../../system/files/open-file.ts'
import { resolvePath, type WorkspacePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'

/** Files to diff or edit are held in memory several times. */
const editedBytesMax = Math.min(limits.editedFileBytesMax, bufferConstants.MAX_STRING_LENGTH)

/** Reads a file's exact text. Refuses files that are not UTF-8 text or too long. */
export async function readFileText(workdir: string, path: string): Promise<Result<string>> {
  const opened = await openFile(workdir, path)
  if (!opened.ok) return opened
  await using handle = opened.value.handle
  const { size } = opened.value.stats
  if (size > editedBytesMax)
    return refuse(
      fault('too_large', `${escapeLine(path)} has ${size} bytes; up to ${editedBytesMax} can be diffed or edited`),
    )
  const bytes = await handle.readFile()
  const text = bytes.toString('utf8') // keeps a byte-order mark, which TextDecoder would drop
  if (bytes.includes(0)) return refuse(fault('bad_request', `${escapeLine(path)} is binary (${size} bytes)`))
  if (!Buffer.from(text).equals(bytes)) return refuse(fault('bad_request', `${escapeLine(path)} is not valid UTF-8`))
  return ok(text)
}

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

/** Writes `content` to `path` atomically. Creates missing directories inside the workdir. */
export async function replaceFile(
  workdir: string,
  path: string,
  content: string,
  signal: AbortSignal,
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

  const written = await writeBeside(parent, name, content, { stats: occupant ?? stats, signal })
  if (!written) return refuse(fault('bad_request', 'aborted before anything was written'))
  return ok({ path: shown, change: occupant === null ? 'created' : 'modified' })
}

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

type Beside = { readonly stats: Stats | null; readonly signal: AbortSignal }

async function writeBeside(parent: OpenDirectory, name: string, content: string, { stats, signal }: Beside) {
  const temporary = parent.at(`.${randomUUID()}.tmp`) // not derived from `name`, which may already have the maximum length
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  await using handle = await open(temporary, flags, stats === null ? 0o666 : 0o600)
  let isRenamed = false
  try {
    await handle.writeFile(content)
    if (stats !== null) await keepOwnerAndMode(handle, stats)
    await handle.sync()
    if (signal.aborted) return false
    await rename(temporary, parent.at(name))
    isRenamed = true
    await parent.sync()
    return true
  } finally {
    if (!isRenamed) await unlink(temporary).catch(() => undefined) // the first failure is the one to report
  }
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
