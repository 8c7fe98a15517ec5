import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { escapeHidden, escapeLine, fault, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { findStats } from '../../system/files/fast-stat.ts'
import { type OpenDirectory, openDirectory, openFile, statFile } from '../../system/files/open-file.ts'
import { ensurePrivateDirectory } from '../../system/files/private-directory.ts'
import { resolvePath, type WorkspacePath } from '../../system/files/resolve-path.ts'
import { systemErrorCode } from '../../system/system-error.ts'

type MemoryScope = 'user' | 'workspace'

const workspaceFolder = '.holdfast'
export const workspaceFile = `${workspaceFolder}/MEMORY.md`
const bytesMax = limits.memoryBytesMax

/** Which memories of workspaces a person trusts, and so which ones the model is told as its own earlier notes. */
export interface MemoryTrust {
  isTrusted(workdir: string, text: string): Promise<boolean>
  /** Trusts the memory as it is now. */
  grant(workdir: string, text: string): Promise<Result<null>>
}

type MemoryDeps = {
  readonly userFile: string
  readonly now: () => number
  /** Which memories of workspaces a person trusts. Absent: all, for tools that only write. */
  readonly trust?: MemoryTrust | undefined
}
type MemoryNote = { readonly workdir: string; readonly scope: MemoryScope; readonly text: string }
type MemoryTarget = { readonly scope: MemoryScope; readonly workdir: string; readonly userFile: string }

export type Memory = ReturnType<typeof createMemory>

/** Creates the memory shared by sessions: a file of the user and one of the workspace, read anew each time. */
export function createMemory({ userFile, now, trust }: MemoryDeps) {
  const isTrusted = async (workdir: string, text: string) =>
    trust === undefined || (await trust.isTrusted(workdir, text))
  /** Trusts the memory with this note added. Returns false if that fails, or if another program wrote to it meanwhile. */
  const trustNote = async (workdir: string, before: string, line: string): Promise<boolean> => {
    const after = await readWorkspaceMemory(workdir)
    if (after?.text !== withLine(before, line).trim()) return false
    return trust === undefined || (await trust.grant(workdir, after.text)).ok
  }
  return {
    /** Returns both memories. One of the workspace that no person trusts is left out: a stranger may have planted it. */
    async read(workdir: string): Promise<Readonly<Record<MemoryScope, RememberedText | null>>> {
      const [user, workspace] = await Promise.all([
        readMemory({ scope: 'user', workdir, userFile }),
        readWorkspaceMemory(workdir),
      ])
      return { user, workspace: workspace && (await isTrusted(workdir, workspace.text)) ? workspace : null }
    },

    /** Returns the file before and after. The time is not known yet: a person may have to approve first. */
    async foresee({
      workdir,
      scope,
      text,
    }: MemoryNote): Promise<Result<{ path: string; before: string | null; after: string }>> {
      const found = await findMemory({ scope, workdir, userFile })
      if (!found.ok) return found
      const stats = await statFile(found.value)
      if (!stats.ok) return stats
      const { shown } = found.value
      const size = stats.value?.size ?? 0
      if (size + Buffer.byteLength(memoryLine(text, minuteOf(now()))) > bytesMax)
        return refuse(memoryFull(escapeLine(shown)))
      const before = stats.value && ((await readMemoryEnd({ scope, workdir, userFile }))?.bytes.toString('utf8') ?? '')
      return ok({ path: shown, before, after: withLine(before ?? '', memoryLine(text, 'time of writing')) })
    },

    async append({ workdir, scope, text }: MemoryNote): Promise<Result<Appended>> {
      const before = scope === 'workspace' ? await readWorkspaceMemory(workdir) : null
      const wasTrusted = before === null || (await isTrusted(workdir, before.text))
      const found = await findMemory({ scope, workdir, userFile })
      if (!found.ok) return found
      const { shown, absolute, missing } = found.value
      const opened = await openMemoryDirectory(scope, found.value)
      if (!opened.ok) return opened
      await using directory = opened.value
      const line = memoryLine(text, minuteOf(now()))
      const appended = await appendLine(directory.at(basename(absolute)), {
        line,
        shown: escapeLine(shown),
        mode: scope === 'user' ? 0o600 : 0o666,
      })
      if (!appended.ok) return appended
      if (missing.length > 0) await directory.sync()
      const isTold = scope === 'user' || (wasTrusted && (await trustNote(workdir, before?.text ?? '', line)))
      return ok({ path: shown, change: missing.length > 0 ? 'created' : 'modified', line: line.trimEnd(), isTold })
    },
  }
}

type Appended = {
  readonly path: string
  readonly change: 'created' | 'modified'
  readonly line: string
  /** Whether later sessions are told the memory: not if no person trusts what it had before. */
  readonly isTold: boolean
}

const withLine = (before: string, line: string): string =>
  before === '' || before.endsWith('\n') ? `${before}${line}` : `${before}\n${line}`

const breaks = /[\n\v\f\r\u0085\u2028\u2029]+/
// Some scripts and many emoji need these two joiners. Other invisible characters could hide text from people.
const apartFromJoiners = /[^\u200c\u200d]+/g

/** Returns a note as one list line, without line breaks and invisible characters. */
export function memoryLine(text: string, when: string): string {
  const pieces = text.split(breaks).map((piece) => piece.trim())
  const folded = pieces.filter((piece) => piece !== '').join(' ')
  return `- [${when}] ${folded.replaceAll('\t', ' ').replace(apartFromJoiners, escapeHidden)}\n`
}

/** Formats a time to the minute: `2026-03-04 12:00 UTC`. */
export const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** Finds the memory file. Follows the user's own links, but none of a workspace, which may come from strangers. */
async function findMemory({ scope, workdir, userFile }: MemoryTarget): Promise<Result<WorkspacePath>> {
  if (scope === 'workspace') {
    const path = await resolvePath(workdir, workspaceFile)
    if (!path.ok || path.value.shown === workspaceFile) return path
    return refuse(fault('bad_request', `${workspaceFile} is reached by a link, and memory is not written through one`))
  }
  const real = await realpath(userFile).catch((error: unknown) => {
    if (systemErrorCode(error) === 'ENOENT') return null
    throw error
  })
  const absolute = real ?? userFile
  const missing = real === null ? [basename(userFile)] : []
  return ok({ root: dirname(absolute), absolute, shown: userFile, missing, links: [] })
}

/** Opens the directory of a memory file, creating it if needed. The user's is private. */
async function openMemoryDirectory(scope: MemoryScope, { root, absolute, missing }: WorkspacePath) {
  if (scope === 'workspace' && missing.length > 1) return makeWorkspaceFolder(root)
  if (scope === 'workspace' || missing.length === 0) return openDirectory(root, dirname(absolute))
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

/** Reads the memory of a workspace, trusted or not. */
export const readWorkspaceMemory = (workdir: string): Promise<RememberedText | null> =>
  readMemory({ scope: 'workspace', workdir, userFile: '' })

/** Reads a memory. Returns null if it is missing, empty, unreadable, not text, or a link out of the workspace. */
async function readMemory(target: MemoryTarget): Promise<RememberedText | null> {
  const { scope, workdir, userFile } = target
  // Most often there is none, and each step asks.
  if ((await findStats(scope === 'user' ? userFile : join(workdir, workspaceFile))) === null) return null
  try {
    const end = await readMemoryEnd(target)
    const text = end?.bytes.toString('utf8').trim() ?? ''
    if (end === null || text === '' || end.bytes.includes(0)) return null
    return { text, leftOutBytes: end.leftOutBytes, path: scope === 'user' ? userFile : workspaceFile }
  } catch (error) {
    if (systemErrorCode(error) === null) throw error
    return null
  }
}

type MemoryEnd = { readonly bytes: Buffer; readonly leftOutBytes: number }

/** Reads the newest lines, up to the size limit for the model. */
async function readMemoryEnd({ scope, workdir, userFile }: MemoryTarget): Promise<MemoryEnd | null> {
  const file = scope === 'user' ? await realpath(userFile) : null // the user may keep it elsewhere and link to it
  const opened = await (file === null ? openFile(workdir, workspaceFile) : openFile(dirname(file), basename(file)))
  if (!opened.ok) return null
  await using handle = opened.value.handle
  return await readEnd(handle, opened.value.stats.size) // awaited here: the handle closes on the way out
}

/** Reads the end of a file from a line start; inside a line only if not even one line fits. */
async function readEnd(handle: FileHandle, size: number): Promise<MemoryEnd> {
  const start = Math.max(0, size - bytesMax)
  const bytes = await readFrom(handle, start)
  if (start === 0) return { bytes, leftOutBytes: 0 }
  const feed = bytes.indexOf('\n')
  let border = feed === -1 || feed === bytes.length - 1 ? 0 : feed + 1
  while (border < 4 && ((bytes[border] ?? 0) & 0xc0) === 0x80) border++ // never inside a character
  return { bytes: bytes.subarray(border), leftOutBytes: start + border }
}

async function readFrom(handle: FileHandle, start: number): Promise<Buffer> {
  const bytes = Buffer.alloc(bytesMax)
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
  constants.O_NONBLOCK | // if a pipe has replaced the file, do not wait for a reader
  constants.O_NOCTTY

type NewLine = { readonly line: string; readonly shown: string; readonly mode: number }

/** Appends a line in one write, so that two processes never lose or split a line. */
async function appendLine(path: string, { line, shown, mode }: NewLine): Promise<Result<null>> {
  await using handle = await open(path, flags, mode)
  const stats = await handle.stat()
  if (!stats.isFile()) return refuse(fault('bad_request', `${shown} is not a regular file`))
  const bytes = Buffer.from((await endsLine(handle, stats.size)) ? line : `\n${line}`)
  if (stats.size + bytes.length > bytesMax) return refuse(memoryFull(shown))
  const { bytesWritten } = await handle.write(bytes)
  if (bytesWritten !== bytes.length)
    return refuse(fault('storage_error', `only the first ${bytesWritten} bytes of the line were written to ${shown}`))
  await handle.sync()
  return ok(null)
}

const memoryFull = (shown: string) =>
  fault('too_large', `${shown} may not grow beyond ${bytesMax} bytes; a person has to shorten it first`)

/** Returns whether the file ends with a line feed. A hand-edited file may not. */
async function endsLine(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return true
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1)
  return buffer.toString('latin1') === '\n'
}
