import { type FileHandle, realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { limits } from '@holdfast/protocol'
import { type OpenFile, openFile } from '../../system/files/open-file.ts'
import { systemErrorCode } from '../../system/system-error.ts'
import { type Whose, workspaceFile } from './memory-place.ts'

/** A memory as a model is told of it: the newest lines, which are the last. */
export type RememberedText = {
  readonly text: string
  /** How much stands before the text in the file. */
  readonly leftOutBytes: number
  readonly path: string
}

/** Null for a memory that is missing, empty, unreadable, no text, or reached by a link out of the workspace. */
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

/** The newest lines as they are in the file: all of it, unless it is larger than a model is told. */
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

/** The end of a file from the beginning of a line on; inside a line only when not even one line fits. */
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
