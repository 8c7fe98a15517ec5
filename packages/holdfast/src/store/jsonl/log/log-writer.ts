import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { HoldfastError } from '@holdfast/protocol/fault'
import { storageFault } from '../../storage-fault.ts'
import { moveTornTail } from './torn-tail.ts'

/** Appends to one session's file. The text is durable when `write` resolves, and not in the log when it rejects. */
export interface LogWriter {
  end(): number
  write(text: string): Promise<void>
  close(): Promise<void>
}

/** How often the path is checked: writes to a deleted or replaced file succeed and are lost. */
const checkEveryMs = 20

export function createLogWriter(path: string, from: { readonly end: number; readonly lacksBreak: boolean }): LogWriter {
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
    async write(text) {
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
