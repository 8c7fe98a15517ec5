import { createSerialQueue } from '@holdfast/protocol/serial-queue'
import type { ImportedFile } from '../import-paths.ts'
import type { ImportOptions } from './import-thread.ts'

type RunImport = (paths: readonly string[], options: ImportOptions) => Promise<readonly ImportedFile[]>

/**
 * Runs the imports of a process one after the other, because each has a thread with much memory. An aborted one gives up its
 * place; `close` stops all.
 */
export function createImportQueue(runImport: RunImport) {
  const oneByOne = createSerialQueue()
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    run(paths: readonly string[], { signal, onWait, ...options }: ImportOptions = {}): ReturnType<RunImport> {
      const stop = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      if (running.size > 0) onWait?.(running.size)
      const turn = Promise.withResolvers<void>()
      const imported = untilAborted(turn.promise, stop).then(() => runImport(paths, { ...options, signal: stop }))
      const ended: Promise<unknown> = oneByOne(async () => {
        turn.resolve()
        await imported.catch(() => undefined) // the caller gets the error
      }).then(() => running.delete(ended))
      running.add(ended)
      return imported
    },
    async close(): Promise<void> {
      closing.abort()
      await Promise.all(running)
    },
  }
}

/** Waits for a turn; ends at an abort too. */
function untilAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => {
    signal.removeEventListener('abort', end)
    resolve()
  }
  signal.addEventListener('abort', end)
  turn.then(end)
  if (signal.aborted) end()
  return promise
}
