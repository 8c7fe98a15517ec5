import { close, write } from 'node:fs'
import { systemErrorCode } from '../../system/system-error.ts'

/** What waits to be written when a reader stands still; beyond it lines are lost rather than memory. */
const waitingBytesMax = 8 * 1024 * 1024
/** A pipe that is full takes more when its reader has read on. */
const fullPipeMs = 20
/** How long an end waits for a reader that stands still. */
const lastWordsMs = 1000

export type LineWriterOptions = {
  readonly fd: number
  /** Whether the descriptor is ours to close. */
  readonly isOwned: boolean
  /** Hears of each write that failed; what it held is lost. */
  readonly onFailed: (error: unknown) => void
}

/** Lines into a descriptor, in order and beside the event loop. A disk that fails costs lines, and holds nobody up. */
export interface LineWriter {
  write(line: string): void
  /** Resolves when all is written that can be. */
  close(): Promise<void>
}

export function createLineWriter({ fd, isOwned, onFailed }: LineWriterOptions): LineWriter {
  let waiting: string[] = []
  let waitingBytes = 0
  let isWriting = false
  let isClosed = false
  let idle: (() => void) | null = null

  function begin(): void {
    if (isWriting) return
    if (waiting.length === 0) {
      idle?.()
      return
    }
    isWriting = true
    const bytes = Buffer.from(waiting.join(''))
    waiting = []
    waitingBytes = 0
    put(bytes)
  }

  function put(bytes: Buffer): void {
    write(fd, bytes, (error, written) => {
      if (error && systemErrorCode(error) === 'EAGAIN') return void setTimeout(put, fullPipeMs, bytes).unref()
      if (!error && written < bytes.length) return put(bytes.subarray(written))
      isWriting = false
      if (error) onFailed(error)
      begin()
    })
  }

  return {
    write(line) {
      if (isClosed || waitingBytes > waitingBytesMax) return
      waiting.push(line)
      waitingBytes += line.length
      begin()
    },
    async close() {
      if (isClosed) return
      isClosed = true
      if (isWriting || waiting.length > 0) {
        const { promise, resolve } = Promise.withResolvers<void>()
        idle = resolve
        const timer = setTimeout(resolve, lastWordsMs)
        await promise
        clearTimeout(timer)
      }
      if (isOwned) await new Promise<void>((resolve) => close(fd, () => resolve()))
    },
  }
}
