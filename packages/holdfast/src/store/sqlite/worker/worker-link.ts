import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { errorMessage, type Fault } from '@holdfast/protocol/fault'
import { type Result, refuse } from '@holdfast/protocol/result'
import { startThread } from '../../../system/start-thread.ts'
import { type Answered, createCalls, type Envelope } from './calls.ts'
import { createEventLoopSpin } from './spin-wait.ts'

/** What a worker receives: requests; the port of another thread, or its end; null as the last message. */
export type ToWorker<Request> =
  | readonly Envelope<Request>[]
  | { readonly opened: MessagePort; readonly id: number }
  | { readonly closed: number }
  | null

export type WorkerData<Options> = { readonly signal: Int32Array; readonly options: Options }

/** What another thread needs to send requests of its own to a worker. The port must be transferred. */
export type WorkerPort = { readonly port: MessagePort; readonly signal: Int32Array }

type WorkerLinkOptions = {
  readonly script: URL
  readonly options: unknown
  /** Creates the fault that pending requests get when the worker dies. */
  readonly faultOfDeath: (why: string) => Fault
}

/** Starts a worker on the first request, and again after it died. An idle worker does not keep the process alive. */
export function createWorkerLink<Request>({ script, options, faultOfDeath }: WorkerLinkOptions) {
  const calls = createCalls<Request>((batch) => send(batch))
  let running: ReturnType<typeof startWorker> | null = null
  let isClosed = false
  let lastPort = 0
  const spin = createEventLoopSpin(calls.waiting)

  function send(message: ToWorker<Request>, transfer: readonly MessagePort[] = []): void {
    if (running === null) return
    running.worker.postMessage(message, transfer)
    wake(running.signal)
    spin()
  }

  function ask(request: Request): Promise<Result<unknown>> {
    if (isClosed) return Promise.resolve(refuse(faultOfDeath('the store is closed')))
    running ??= startWorker()
    if (calls.waiting.size === 0) running.worker.ref()
    return calls.ask(request)
  }

  function startWorker() {
    const signal = new Int32Array(new SharedArrayBuffer(4))
    const workerData: WorkerData<unknown> = { signal, options }
    const worker = startThread(script, { workerData })
    let why = 'the worker thread ended'
    const { promise: ended, resolve } = Promise.withResolvers<void>()

    worker.on('message', (answers: readonly Answered[]) => {
      calls.settle(answers)
      if (calls.waiting.size === 0 && !isClosed) worker.unref() // a close waits for the end of the worker
    })
    worker.on('error', (error) => {
      why = errorMessage(error)
    })
    worker.on('exit', () => {
      running = null
      calls.refuseAll(faultOfDeath(why))
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
    /** Lets another thread send requests to this worker, without a detour through this thread. */
    openPort(): { readonly given: WorkerPort; close(): void } {
      running ??= startWorker()
      const { worker, signal } = running
      const { port1, port2 } = new MessageChannel()
      lastPort += 1
      const id = lastPort
      send({ opened: port1, id }, [port1])
      return {
        given: { port: port2, signal },
        close() {
          if (running?.worker === worker) send({ closed: id })
        },
      }
    },
    /** Waits for pending requests, then ends the worker. */
    async close(): Promise<void> {
      if (isClosed) return running?.ended
      isClosed = true
      running?.worker.ref()
      calls.flush()
      send(null) // requests before it are answered first
      await running?.ended
    },
  }
}

/** Wakes a worker that sleeps on its signal. */
export function wake(signal: Int32Array): void {
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
}
