import { constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { HoldfastError } from '@holdfast/protocol/fault'
import { storageFault } from '../../storage-fault.ts'
import { moveTornTail } from './torn-tail.ts'

/** Appends to one session's file. What it was given is durable once `write` resolves, and not there once it rejects. */
export interface LogWriter {
  end(): number
  write(text: string): Promise<void>
  close(): Promise<void>
}

/** How often the name is looked at: a file that lost its name takes every write and keeps none. */
const lookEveryMs = 20

export function createLogWriter(path: string, from: { readonly end: number; readonly lacksBreak: boolean }): LogWriter {
  let { end, lacksBreak } = from
  let file: FileHandle | null = null
  let inode: number | null = null
  let seenAt = 0
  let hasFailed = false
  /** Whatever stands at the name now, it is not what we wrote: nothing more is written until it is read anew. */
  let isReplaced = false

  async function reopen(): Promise<FileHandle> {
    const opened = await open(path, constants.O_RDWR | constants.O_APPEND)
    try {
      const { ino, size } = await opened.stat()
      const isOurs = inode === null || ino === inode
      if (!isOurs || size < end || (size > end && !hasFailed)) throw replaced()
      if (hasFailed) {
        // What a refused write left behind goes aside, and what the kernel may call clean by mistake is synced anew.
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

  /** After a failed write or sync the handle is never used again. */
  async function close(): Promise<void> {
    const closing = file
    file = null
    await closing?.close().catch(() => undefined)
  }

  async function expectInPlace(size: number): Promise<void> {
    const now = performance.now()
    if (now - seenAt < lookEveryMs) return
    const seen = await stat(path).catch(() => null)
    if (seen?.ino !== inode || seen?.size !== size) throw replaced()
    seenAt = now
  }

  function replaced(): HoldfastError {
    isReplaced = true
    return new HoldfastError(storageFault(path, 'replaced'))
  }

  return {
    end: () => end,
    close,
    async write(text) {
      const bytes = Buffer.from(lacksBreak ? `\n${text}` : text)
      try {
        if (isReplaced) throw replaced()
        file ??= await reopen()
        for (let written = 0; written < bytes.length; ) {
          written += (await file.write(bytes, written)).bytesWritten
        }
        await file.datasync()
        await expectInPlace(end + bytes.length)
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
