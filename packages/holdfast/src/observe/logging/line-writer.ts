import { close, write } from 'node:fs'
import { systemErrorCode } from '../../system/system-error.ts'

/** The most that is buffered for a slow reader; beyond it lines are dropped. */
const waitingBytesMax = 8 * 1024 * 1024
/** How long to wait before writing to a full pipe again. */
const fullPipeMs = 20
/** How long closing waits for a slow reader. */
const lastWordsMs = 1000

export type LineWriterOptions = {
  readonly fd: number
  /** Whether to close the descriptor. */
  readonly isOwned: boolean
  /** Called for each failed write; its lines are lost. */
  readonly onFailed: (error: unknown) => void
}

/** Writes lines to a descriptor in order, without blocking. A failing disk loses lines. */
export interface LineWriter {
  write(line: string): void
  /** Resolves when everything possible is written. */
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
