import type { Worker } from 'node:worker_threads'
import type { ReadRecord } from '@holdfast/core/ports'
import { fault, HoldfastError, type Message, type SessionId } from '@holdfast/protocol'
import { countChars, formatMessage, type MessageFormat } from './format-message.ts'
import { cutPieces } from './pieces.ts'

/** What a thread writes: a redacted value as JSON, a message in a format, or a redacted record as a line of a log. */
export type ExportTask =
  | { readonly type: 'value'; readonly value: unknown }
  | {
      readonly type: 'message'
      readonly message: Message
      readonly isRedacted: boolean
      readonly format: MessageFormat
    }
  | { readonly type: 'line'; readonly record: ReadRecord; readonly session: SessionId }

/** One piece of the text of a task. The thread sends the next one when it is asked for it. */
export type ExportedPiece = { readonly piece: string; readonly isLast: boolean }

/**
 * Redacts and formats the values of one export, one after the other. Everything that may take long runs on a thread, and
 * comes back in small pieces: this thread never holds the text of a whole message.
 */
export interface ExportThread extends AsyncDisposable {
  /** Returns a small value without what looks private; the value itself if the export is not redacted. */
  redact<Value>(value: Value): Promise<Value>
  format(message: Message, format: MessageFormat): AsyncIterable<string>
  /** Writes a record, redacted, as a line of a log. */
  redactedLine(record: ReadRecord, session: SessionId): AsyncIterable<string>
}

/** Shorter messages are formatted at once: a few milliseconds for the worst Markdown. */
const smallCharsMax = 8 * 1024
/** The memory of the thread. It holds one message and a few copies of it; a small heap is collected early. */
const heapMb = 512
const youngMb = 16

/** The thread starts with the first value that needs it; disposing ends it, also while it works. */
export function createExportThread(isRedacted: boolean): ExportThread {
  let thread: Promise<RunningThread> | null = null
  async function* run(task: ExportTask): AsyncGenerator<string> {
    thread ??= startExportThread()
    yield* (await thread).run(task)
  }
  return {
    async redact(value) {
      if (!isRedacted) return value
      return JSON.parse((await Array.fromAsync(run({ type: 'value', value }))).join(''))
    },
    async *format(message, format) {
      if (!isRedacted && countChars(message) <= smallCharsMax) yield* cutPieces(formatMessage(message, format))
      else yield* run({ type: 'message', message, isRedacted, format })
    },
    redactedLine: (record, session) => run({ type: 'line', record, session }),
    async [Symbol.asyncDispose]() {
      await (await thread)?.worker.terminate()
    },
  }
}

const outOfMemory = new HoldfastError(
  fault('too_large', `A message needs more than ${heapMb} MB of memory to be exported.`, { limit: 'heapMb', heapMb }),
)

type RunningThread = { readonly worker: Worker; run(task: ExportTask): AsyncIterable<string> }

async function startExportThread(): Promise<RunningThread> {
  // Most exports need no thread, and a short command loads only what it needs.
  const { findScript, isOutOfMemory, startThread } = await import('../../system/start-thread.ts')
  const worker: Worker = startThread(findScript('./export-worker', import.meta.url), { heapMb, youngMb })
  worker.unref()
  let ended: Error | null = null
  let waiting: PromiseWithResolvers<ExportedPiece> | null = null
  worker.on('message', (answer: ExportedPiece) => waiting?.resolve(answer))
  const end = (error: Error) => {
    ended ??= error
    waiting?.reject(ended)
  }
  worker.on('error', (cause) => end(isOutOfMemory(cause) ? outOfMemory : cause))
  worker.on('exit', (code) => end(new Error(`The thread of an export ended with code ${code}.`)))
  // Not a race with a promise of the thread's end: that would keep every piece until the export is over.
  const ask = async (message: ExportTask | 'next'): Promise<ExportedPiece> => {
    if (ended) throw ended
    waiting = Promise.withResolvers()
    worker.ref()
    worker.postMessage(message)
    try {
      return await waiting.promise
    } finally {
      worker.unref()
      waiting = null
    }
  }
  return {
    worker,
    async *run(task) {
      for (let answer = await ask(task); ; answer = await ask('next')) {
        yield answer.piece
        if (answer.isLast) return
      }
    },
  }
}
