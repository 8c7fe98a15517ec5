import { constants } from 'node:fs'
import { type FileHandle, link, open, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { HoldfastError } from '@holdfast/protocol/fault'
import { syncDirectory } from '../../../system/files/sync-directory.ts'
import { systemErrorCode } from '../../../system/system-error.ts'
import { temporaryPath } from '../../disk.ts'
import { storageFault } from '../../storage-fault.ts'

/** How often the path is checked: writes to a deleted or replaced file succeed and are lost. */
const checkEveryMs = 20

/** Appends to one session's file. The text is durable when `write` resolves, and not in the log when it rejects. */
export function createLogWriter(path: string, from: { readonly end: number; readonly lacksBreak: boolean }) {
  let { end, lacksBreak } = from
  let file: FileHandle | null = null
  let inode: number | null = null
  let checkedAt = 0
  let hasFailed = false
  /** True once the path holds another file than ours: nothing more is written until the log is loaded again. */
  let isReplaced = false

  async function reopen(): Promise<FileHandle> {
    const opened = await open(path, constants.O_RDWR | constants.O_APPEND)
    try {
      const { ino, size } = await opened.stat()
      const isOurs = inode === null || ino === inode
      if (!isOurs || size < end || (size > end && !hasFailed)) throw createReplacedError()
      if (hasFailed) {
        // Move aside what a failed write left behind. Sync again: after an error the kernel may wrongly mark pages clean.
        if (size > end) await moveTornTail(path, end)
        await opened.sync()
      }
      inode = ino
      hasFailed = false
      return opened
    } catch (error) {
      await opened.close()
      throw error
    }
  }

  /** Closes the handle. After a failed write or sync it is never used again. */
  async function close(): Promise<void> {
    const closing = file
    file = null
    await closing?.close().catch(() => undefined)
  }

  async function expectSameFile(size: number): Promise<void> {
    const now = performance.now()
    if (now - checkedAt < checkEveryMs) return
    const found = await stat(path).catch(() => null)
    if (found?.ino !== inode || found?.size !== size) throw createReplacedError()
    checkedAt = now
  }

  function createReplacedError(): HoldfastError {
    isReplaced = true
    return new HoldfastError(storageFault(path, 'replaced'))
  }

  return {
    end: () => end,
    close,
    async write(text: string): Promise<void> {
      const bytes = Buffer.from(lacksBreak ? `\n${text}` : text)
      try {
        if (isReplaced) throw createReplacedError()
        file ??= await reopen()
        for (let written = 0; written < bytes.length; ) {
          written += (await file.write(bytes, written)).bytesWritten
        }
        await file.datasync()
        await expectSameFile(end + bytes.length)
      } catch (error) {
        hasFailed = true
        await close()
        throw error
      }
      end += bytes.length
      lacksBreak = false
    },
  }
}

const chunkBytes = 1024 * 1024

/** Copies the bytes after `end` to a file `….torn-1`, and only then truncates the log: no byte is ever lost. */
export async function moveTornTail(
  path: string,
  end: number,
): Promise<{ readonly path: string; readonly bytes: number }> {
  await using file = await open(path, 'r+')
  const temporary = temporaryPath(path)
  let bytes = 0
  try {
    await using torn = await open(temporary, 'wx', 0o600)
    await torn.chmod(0o600)
    const chunk = Buffer.allocUnsafe(chunkBytes)
    for (;;) {
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, end + bytes)
      if (bytesRead === 0) break
      await torn.writeFile(chunk.subarray(0, bytesRead))
      bytes += bytesRead
    }
    await torn.sync()
    const tornPath = await linkUnusedName(temporary, path)
    await syncDirectory(dirname(path))
    await file.truncate(end)
    await file.sync()
    return { path: tornPath, bytes }
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Links a file to the first unused name of `<path>.<mark>-1`, `-2` and so on. Returns that name. */
export async function linkUnusedName(file: string, path: string, mark: 'torn' | 'damaged' = 'torn'): Promise<string> {
  for (let number = 1; ; number++) {
    try {
      await link(file, `${path}.${mark}-${number}`)
      return `${path}.${mark}-${number}`
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error
    }
  }
}
