import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import type { Message } from '@holdfast/protocol'
import { countChars, formatMessage, type MessageFormat } from './format-message.ts'

/** Redacts a value, then formats it if it is a message. */
export type ExportTask =
  | { readonly value: Message; readonly isRedacted: boolean; readonly format: MessageFormat }
  | { readonly value: unknown; readonly isRedacted: true; readonly format: null }

/** Redacts and formats the values of one export, one after the other. Everything that may take long runs on a thread. */
export interface ExportThread extends AsyncDisposable {
  /** Returns a value without what looks private; the value itself if the export is not redacted. */
  redact<Value>(value: Value): Promise<Value>
  format(message: Message, format: MessageFormat): Promise<string>
}

/** Shorter messages are formatted at once: a few milliseconds for the worst Markdown. */
const smallCharsMax = 8 * 1024

/** The thread starts with the first value that needs it; disposing ends it, also while it works. */
export function createExportThread(isRedacted: boolean): ExportThread {
  let thread: ReturnType<typeof startExportThread> | null = null
  const run = async (task: ExportTask) => {
    thread ??= startExportThread()
    return (await thread).run(task)
  }
  return {
    redact: async (value) => (isRedacted ? run({ value, isRedacted, format: null }) : value),
    async format(message, format) {
      if (!isRedacted && countChars(message) <= smallCharsMax) return formatMessage(message, format)
      return run({ value: message, isRedacted, format })
    },
    async [Symbol.asyncDispose]() {
      await (await thread)?.worker.terminate()
    },
  }
}

async function startExportThread() {
  // Most exports need no thread, and a short command loads only what it needs.
  const { findScript, startThread } = await import('../../system/start-thread.ts')
  const worker: Worker = startThread(findScript('./export-worker', import.meta.url), { youngMb: 16 })
  worker.unref()
  const ended = once(worker, 'exit').then(([code]) => {
    throw new Error(`The thread of an export ended with code ${code}.`)
  })
  ended.catch(() => undefined) // a pending task rejects; without one the exit is no error
  return {
    worker,
    async run(task: ExportTask) {
      worker.ref()
      worker.postMessage(task)
      const [done] = await Promise.race([once(worker, 'message'), ended])
      worker.unref()
      return done
    },
  }
}
