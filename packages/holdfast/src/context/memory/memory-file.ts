import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { type OpenDirectory, type OpenFile, openDirectory, openFile } from '../../system/files/open-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { resolvePath, type WorkspacePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'

export type MemoryScope = 'user' | 'workspace'

const workspaceFolder = '.holdfast'
const workspaceFile = `${workspaceFolder}/MEMORY.md`

type Whose = { readonly scope: MemoryScope; readonly workdir: string; readonly userFile: string }

/** Finds the memory file. Follows the user's own links, but none of a workspace, which may come from strangers. */
export function findPlace({ scope, workdir, userFile }: Whose): Promise<Result<WorkspacePath>> {
  return scope === 'user' ? findUserPlace(userFile) : findWorkspacePlace(workdir)
}

async function findWorkspacePlace(workdir: string): Promise<Result<WorkspacePath>> {
  const place = await resolvePath(workdir, workspaceFile)
  if (!place.ok || place.value.shown === workspaceFile) return place
  return refuse(fault('bad_request', `${workspaceFile} is reached by a link, and memory is not written through one`))
}

async function findUserPlace(userFile: string): Promise<Result<WorkspacePath>> {
  const real = await realpath(userFile).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  })
  const absolute = real ?? userFile
  const missing = real === null ? [basename(userFile)] : []
  return ok({ root: dirname(absolute), absolute, shown: userFile, missing })
}

/** Opens the directory of a memory file, creating it if needed. The user's is private. */
export async function openPlace(scope: MemoryScope, { root, absolute, missing }: WorkspacePath) {
  if (missing.length === 0) return openDirectory(root, dirname(absolute))
  if (scope === 'workspace')
    return missing.length > 1 ? makeWorkspaceFolder(root) : openDirectory(root, dirname(absolute))
  ensurePrivateDirectory(root)
  const real = await realpath(root)
  return openDirectory(real, real)
}

async function makeWorkspaceFolder(root: string): Promise<Result<OpenDirectory>> {
  const opened = await openDirectory(root, root)
  if (!opened.ok) return opened
  await using directory = opened.value
  await mkdir(directory.at(workspaceFolder)).catch((error: unknown) => {
    if (systemErrorCode(error) !== 'EEXIST') throw error // another call made it meanwhile; opening it checks what it is
  })
  await directory.sync()
  return openDirectory(root, join(root, workspaceFolder))
}

/** The newest (last) lines of a memory file, as sent to the model. */
export type RememberedText = {
  readonly text: string
  /** How many bytes of the file come before the text. */
  readonly leftOutBytes: number
  readonly path: string
}

/** Reads a memory. Returns null if it is missing, empty, unreadable, not text, or a link out of the workspace. */
export async function readMemory(whose: Whose): Promise<RememberedText | null> {
  try {
    const end = await readMemoryEnd(whose)
    const text = end?.bytes.toString('utf8').trim() ?? ''
    if (end === null || text === '' || end.bytes.includes(0)) return null
    return { text, leftOutBytes: end.leftOutBytes, path: whose.scope === 'user' ? whose.userFile : workspaceFile }
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}

/** Reads the newest lines, up to the size limit for the model. */
export async function readMemoryEnd(whose: Whose): Promise<MemoryEnd | null> {
  const opened = await openMemory(whose)
  if (opened === null) return null
  await using handle = opened.handle
  return await readEnd(handle, opened.stats.size) // awaited here: the handle closes on the way out
}

type MemoryEnd = { readonly bytes: Buffer; readonly leftOutBytes: number }

async function openMemory({ scope, workdir, userFile }: Whose): Promise<OpenFile | null> {
  const file = scope === 'user' ? await realpath(userFile) : null // the user may keep it elsewhere and link to it
  const opened = await (file === null ? openFile(workdir, workspaceFile) : openFile(dirname(file), basename(file)))
  return opened.ok ? opened.value : null
}

/** Reads the end of a file from a line start; inside a line only if not even one line fits. */
async function readEnd(handle: FileHandle, size: number): Promise<MemoryEnd> {
  const start = Math.max(0, size - limits.memoryBytesMax)
  const bytes = await readFrom(handle, start)
  if (start === 0) return { bytes, leftOutBytes: 0 }
  const feed = bytes.indexOf('\n')
  let border = feed === -1 || feed === bytes.length - 1 ? 0 : feed + 1
  while (border < 4 && ((bytes[border] ?? 0) & 0xc0) === 0x80) border++ // never inside a character
  return { bytes: bytes.subarray(border), leftOutBytes: start + border }
}

async function readFrom(handle: FileHandle, start: number): Promise<Buffer> {
  const bytes = Buffer.alloc(limits.memoryBytesMax)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, start + length)
    length += bytesRead
    if (bytesRead === 0 || length === bytes.length) return bytes.subarray(0, length)
  }
}

const flags =
  constants.O_RDWR |
  constants.O_APPEND |
  constants.O_CREAT |
  constants.O_NOFOLLOW |
  constants.O_NONBLOCK | // should a pipe have taken the file's place, opening it must not wait for a reader
  constants.O_NOCTTY

type Appending = {
  readonly line: string
  readonly shown: string
  /** The mode of a new file. */
  readonly mode: number
  readonly bytesMax: number
}

/** Appends a line in one write, so that two processes never lose or split a line. */
export async function appendLine(path: string, { line, shown, mode, bytesMax }: Appending): Promise<Result<null>> {
  await using handle = await open(path, flags, mode)
  const stats = await handle.stat()
  if (!stats.isFile()) return refuse(fault('bad_request', `${shown} is not a regular file`))
  const bytes = Buffer.from((await endsLine(handle, stats.size)) ? line : `\n${line}`)
  if (stats.size + bytes.length > bytesMax) return refuse(memoryFull(shown, bytesMax))
  const { bytesWritten } = await handle.write(bytes)
  if (bytesWritten !== bytes.length)
    return refuse(fault('storage_error', `only the first ${bytesWritten} bytes of the line were written to ${shown}`))
  await handle.sync()
  return ok(null)
}

export const memoryFull = (shown: string, bytesMax: number) =>
  fault('too_large', `${shown} may not grow beyond ${bytesMax} bytes; a person has to shorten it first`)

/** Returns whether the file ends with a line feed. A hand-edited file may not. */
async function endsLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString('latin1') === '\n'
}
