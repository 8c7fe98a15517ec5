import { Worker } from 'node:worker_threads'
import type { Fault } from '@holdfast/protocol/fault'
import { done, type Result, refuse } from '@holdfast/protocol/result'
import { createVigil } from './stay-awake.ts'

/** Requests and answers cross in batches, each with the number that brings them together again. */
export type Envelope<Content> = readonly [number: number, content: Content]

/** What one message to a worker holds. Null is the last: the link closes. */
export type Batch<Request> = readonly Envelope<Request>[] | null

/** An answer with its number; of one that says only that it is done, the number alone. */
export type Answered = number | Envelope<Result<unknown>>

export type WorkerData<Options> = { readonly signal: Int32Array; readonly options: Options }

export interface WorkerLink<Request> {
  /** Starts the worker before anyone asks, so that its loading runs beside what is done meanwhile. */
  warm(): void
  ask(request: Request): Promise<Result<unknown>>
  /** Waits for what is under way, then ends the worker. */
  close(): Promise<void>
}

export type WorkerLinkOptions = {
  readonly script: URL
  readonly options: unknown
  /** What everyone who waits is told when the worker dies. */
  readonly whenDead: (why: string) => Fault
}

type Waiting = (answer: Result<unknown>) => void
type Running = {
  readonly worker: Worker
  readonly signal: Int32Array
  readonly waiting: Map<number, Waiting>
  readonly ended: Promise<void>
}

/** A worker on demand: started by the first request, started anew after a death, never what keeps the process alive. */
export function createWorkerLink<Request>({ script, options, whenDead }: WorkerLinkOptions): WorkerLink<Request> {
  let running: Running | null = null
  let outgoing: Envelope<Request>[] = []
  let lastNumber = 0
  let isClosed = false
  const stayAwake = createVigil(() => running !== null && running.waiting.size > 0)

  function ask(request: Request): Promise<Result<unknown>> {
    if (isClosed) return Promise.resolve(refuse(whenDead('it is closed')))
    running ??= start()
    const { worker, waiting } = running
    lastNumber += 1
    const number = lastNumber
    if (waiting.size === 0) worker.ref()
    // What is asked in one tick crosses in one message.
    if (outgoing.length === 0) queueMicrotask(flush)
    outgoing.push([number, request])
    return new Promise((resolve) => waiting.set(number, resolve))
  }

  function flush(): void {
    const batch = outgoing
    outgoing = []
    if (running !== null && batch.length > 0) post(running, batch)
  }

  function post({ worker, signal }: Running, batch: Batch<Request>): void {
    worker.postMessage(batch)
    Atomics.add(signal, 0, 1)
    Atomics.notify(signal, 0)
    stayAwake()
  }

  function start(): Running {
    const signal = new Int32Array(new SharedArrayBuffer(4))
    const workerData: WorkerData<unknown> = { signal, options }
    // No flags of the program's own: one like --input-type would keep the worker from loading its file.
    const worker = new Worker(script, { workerData, execArgv: [], trackUnmanagedFds: false }) // store-header.ts keeps its descriptors
    const waiting = new Map<number, Waiting>()
    let why = 'its worker ended'
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
      if (running?.worker === worker) running = null
      outgoing = []
      const refusal = refuse(whenDead(why))
      for (const settle of waiting.values()) settle(refusal)
      waiting.clear()
      resolve()
    })
    worker.unref()
    return { worker, signal, waiting, ended }
  }

  async function close(): Promise<void> {
    if (isClosed) return running?.ended
    isClosed = true
    if (running === null) return
    flush()
    running.worker.ref()
    post(running, null) // everything before it is answered first
    await running.ended
  }

  const warm = (): void => {
    if (!isClosed) running ??= start()
  }

  return { warm, ask, close }
}
