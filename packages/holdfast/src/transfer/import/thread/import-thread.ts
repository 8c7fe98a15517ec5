import { errorMessage, type Fault, fault } from '@holdfast/protocol'
import type { WorkerPort } from '../../../store/sqlite/worker/worker-link.ts'
import { findBundle, isOutOfMemory, startThread } from '../../../system/start-thread.ts'
import type { ImportHost, LocalImportHost } from '../host/import-host.ts'
import { createFailedFile, type ImportedFile, type ImportFileOptions, type ImportProgress } from '../import-paths.ts'
import type { FromImport, HostAnswer, HostCall, ImportJob } from './import-worker.ts'

/** How to import files and folders. */
export type ImportOptions = ImportFileOptions &
  Pick<ImportProgress, 'onFile'> & {
    /** Called with the number of imports of this process that come first, if there are any: they run one at a time. */
    readonly onWait?: ((before: number) => void) | undefined
    /** Called once with the number of files, before the first is read. */
    readonly onCount?: ((files: number) => void) | undefined
    /** Stops the import at once. A session that is not whole yet is removed; what was reported stays. */
    readonly signal?: AbortSignal | undefined
  }

export type OpenWriterPort = () => { readonly given: WorkerPort; close(): void }

type Context = Pick<ImportJob, 'defaultModel'> & {
  readonly host: LocalImportHost
  /** Lets the thread write to the store itself; null if the store cannot do that. */
  readonly openWriterPort: OpenWriterPort | null
}

/** The memory that the thread may use for what it parses and builds. */
const heapMb = 640
/** Most of what a file needs is garbage when the next one is read: a larger part for it makes collections rare. */
const youngMb = 96

/**
 * Imports files and folders on a thread of its own: it parses, builds and writes, or asks the host to write. A file that needs
 * more memory than the thread has is refused, and the import goes on with the others.
 */
export async function runImportThread(
  { host, defaultModel, openWriterPort }: Context,
  paths: readonly string[],
  { signal, onCount, onFile, onWait: _, ...options }: ImportOptions = {},
): Promise<readonly ImportedFile[]> {
  const done: ImportedFile[] = []
  const report = (file: ImportedFile): void => {
    done.push(file)
    onFile?.(file)
  }
  let isCounted = false
  try {
    while (!signal?.aborted) {
      const begun = new Int32Array(new SharedArrayBuffer(4))
      let found: readonly string[] = []
      const skip = done.map(({ file }) => file)
      const writer = openWriterPort?.() ?? null
      const { memoryUsed } = host
      const job = { paths, options, defaultModel, skip, begun, memoryUsed, writer: writer?.given ?? null }
      const end = await runOnce(job, host, signal, (message) => {
        if (message.type === 'file') report(message.file)
        else {
          found = message.files
          if (!isCounted) onCount?.(found.length)
          isCounted = true
        }
      })
      writer?.close()
      if (end === null) return done
      const reported = new Set(done.map(({ file }) => file))
      const unfinished = new Set(found.slice(0, Atomics.load(begun, 0))).difference(reported)
      if (signal?.aborted) for (const file of unfinished) report(createFailedFile(file, stopped))
      else if (unfinished.size === 0) throw new Error(`The import ended: ${end.message}`)
      else for (const file of unfinished) report(createFailedFile(file, { ...end, message: `${file}: ${end.message}` }))
      await host.abandon()
    }
    return done
  } finally {
    await host.abandon()
  }
}

const stopped = fault('import_stopped', 'The import was stopped before this file was done. Nothing of it was kept.')

type Progress = Exclude<FromImport, { type: 'call' | 'end' }>

/** Runs one thread to its end. Returns null, or why it ended early. Its last calls to the host are done by then. */
function runOnce(
  job: ImportJob,
  host: ImportHost,
  signal: AbortSignal | undefined,
  onProgress: (message: Progress) => void,
): Promise<Fault | null> {
  return new Promise((resolve) => {
    const transferList = job.writer ? [job.writer.port] : []
    const worker = startThread(script, { workerData: job, transferList, heapMb, youngMb })
    const running = new Set<Promise<void>>()
    let end: Fault | null = fault('internal', 'The thread of the import ended.')
    const stop = () => void worker.terminate()
    const answer = createAnswers((answers) => worker.postMessage(answers))

    const receive = (message: FromImport): void => {
      if (message.type === 'end') end = null
      else if (message.type !== 'call') onProgress(message)
      else if (!signal?.aborted) {
        const one = callHost(host, message.call).then((answered) => {
          running.delete(one)
          answer(answered)
        })
        running.add(one)
      }
    }
    worker.on('message', (messages: readonly FromImport[]) => messages.forEach(receive))
    worker.on('error', (cause) => {
      end = isOutOfMemory(cause) ? outOfMemory : fault('internal', `The import failed: ${errorMessage(cause)}`)
    })
    worker.on('exit', async () => {
      signal?.removeEventListener('abort', stop)
      await Promise.all(running)
      resolve(end)
    })
    signal?.addEventListener('abort', stop)
    if (signal?.aborted) stop()
  })
}

const outOfMemory = fault(
  'too_large',
  `It needs more than ${heapMb} MB of memory to be imported. Split it into smaller files.`,
  { limit: 'heapMb', heapMb },
)

async function callHost(host: ImportHost, [number, method, args]: HostCall): Promise<HostAnswer> {
  try {
    // The thread calls by the same interface; TypeScript cannot follow that through the port.
    const called = host[method] as (...args: readonly unknown[]) => Promise<unknown>
    return [number, { value: await called(...args) }]
  } catch (cause) {
    return [number, { error: errorMessage(cause) }]
  }
}

/** Sends the answers of one tick in one message. */
function createAnswers(send: (answers: readonly HostAnswer[]) => void): (answer: HostAnswer) => void {
  let outgoing: HostAnswer[] = []
  return (answer) => {
    if (outgoing.length === 0)
      queueMicrotask(() => {
        send(outgoing)
        outgoing = []
      })
    outgoing.push(answer)
  }
}

const script = findBundle('./import-worker', import.meta.url)
