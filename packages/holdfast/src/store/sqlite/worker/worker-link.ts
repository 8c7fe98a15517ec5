import type { Fault } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { startThread } from '../../../system/start-thread.ts'
import { createEventLoopSpin } from './spin-wait.ts'

/** Requests and answers cross in batches. The number pairs an answer with its request. */
export type Envelope<Content> = readonly [number: number, content: Content]

/** The content of one message to a worker. Null is the last message: the link closes. */
export type Batch<Request> = readonly Envelope<Request>[] | null

/** An answer with its number; the number alone if the answer is `done`. */
export type Answered = number | Envelope<Result<unknown>>

export type WorkerData<Options> = { readonly signal: Int32Array; readonly options: Options }

type WorkerLinkOptions = {
  readonly script: URL
  readonly options: unknown
  /** Creates the fault that pending requests get when the worker dies. */
  readonly faultOfDeath: (why: string) => Fault
}

/** Starts a worker on the first request, and again after it died. An idle worker does not keep the process alive. */
export function createWorkerLink<Request>({ script, options, faultOfDeath }: WorkerLinkOptions) {
  const waiting = new Map<number, (answer: Result<unknown>) => void>()
  let running: ReturnType<typeof startWorker> | null = null
  let outgoing: Envelope<Request>[] = []
  let lastNumber = 0
  let isClosed = false
  const spin = createEventLoopSpin(waiting)

  function ask(request: Request): Promise<Result<unknown>> {
    if (isClosed) return Promise.resolve(refuse(faultOfDeath('the store is closed')))
    running ??= startWorker()
    if (waiting.size === 0) running.worker.ref()
    // Requests of one tick cross in one message.
    if (outgoing.length === 0) queueMicrotask(flush)
    lastNumber += 1
    outgoing.push([lastNumber, request])
    const { promise, resolve } = Promise.withResolvers<Result<unknown>>()
    waiting.set(lastNumber, resolve)
    return promise
  }

  function flush(isLast = false): void {
    if (running === null || (outgoing.length === 0 && !isLast)) return
    const { worker, signal } = running
    if (outgoing.length > 0) worker.postMessage(outgoing)
    if (isLast) worker.postMessage(null) // requests before it are answered first
    outgoing = []
    Atomics.add(signal, 0, 1)
    Atomics.notify(signal, 0)
    spin()
  }

  function startWorker() {
    const signal = new Int32Array(new SharedArrayBuffer(4))
    const workerData: WorkerData<unknown> = { signal, options }
    const worker = startThread(script, { workerData })
    let why = 'the worker thread ended'
    const { promise: ended, resolve } = Promise.withResolvers<void>()

    worker.on('message', (answers: readonly Answered[]) => {
      for (const answered of answers) {
        const [number, answer] = typeof answered === 'number' ? ([answered, done] as const) : answered
        waiting.get(number)?.(answer)
        waiting.delete(number)
      }
      if (waiting.size === 0) worker.unref()
    })
    worker.on('error', (error) => {
      why = error instanceof Error ? error.message : String(error)
    })
    worker.on('exit', () => {
      running = null
      outgoing = []
      const refusal = refuse(faultOfDeath(why))
      for (const settle of waiting.values()) settle(refusal)
      waiting.clear()
      resolve()
    })
    worker.unref()
    return { worker, signal, ended }
  }

  return {
    /** Starts the worker before the first request, so that it loads in parallel. */
    start(): void {
      if (!isClosed) running ??= startWorker()
    },
    ask,
    /** Waits for pending requests, then ends the worker. */
    async close(): Promise<void> {
      if (isClosed) return running?.ended
      isClosed = true
      running?.worker.ref()
      flush(true)
      await running?.ended
    },
  }
}
