import type { Worker } from 'node:worker_threads'
import type { ModelRequest, OnProblem, RequestAsked, RequestBuilder } from '@holdfast/core/ports'
import { WindowDamaged } from '@holdfast/core/requests'
import { errorMessage, fault, HoldfastError } from '@holdfast/protocol'
import { findBundle, startThread } from '../../system/start-thread.ts'
import type { Built, FromThread, RequestSource, ToThread } from './request-worker.ts'

type RequestThreadOptions = {
  readonly source: RequestSource
  /** Builds short requests until the thread is up for the first time, so that they do not wait for its start. */
  readonly here: RequestBuilder
  readonly onProblem: OnProblem
  /** The worker to run; ours by default. */
  readonly script?: URL | undefined
}

export type RequestThread = RequestBuilder & {
  /** Waits for running requests, then ends the thread. */
  close(): Promise<void>
}

type Waiting = PromiseWithResolvers<ModelRequest>
type Running = { readonly worker: Worker; readonly waiting: Map<number, Waiting>; readonly ended: Promise<void> }

/**
 * Builds requests on a worker thread, so that a long context does not block streaming answers. The thread starts with the
 * first request, restarts after a crash, and never keeps the process alive.
 */
export function createRequestThread({
  source,
  here,
  onProblem,
  script = ownScript,
}: RequestThreadOptions): RequestThread {
  let running: Running | null = null
  let status: 'unproven' | 'proven' | 'useless' = 'unproven'
  let isClosed = false
  let lastNumber = 0

  function start(): Running {
    const worker = startThread(script, { workerData: source })
    const waiting = new Map<number, Waiting>()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    let why = 'it ended'

    worker.on('message', (message: FromThread) => {
      if (message === 'up') {
        status = 'proven'
        return
      }
      const { number, built } = message
      if (built.type === 'built') waiting.get(number)?.resolve(built.request)
      else waiting.get(number)?.reject(causeOf(built))
      waiting.delete(number)
      if (waiting.size === 0) worker.unref()
    })
    worker.on('error', (cause) => {
      why = errorMessage(cause)
      onProblem({ where: 'the request thread', cause })
    })
    worker.on('exit', () => {
      if (running?.worker === worker) running = null
      // A thread that never started would not start for the next request either.
      if (status === 'unproven' && !isClosed) status = 'useless'
      for (const { reject } of waiting.values()) reject(threadDied(why))
      waiting.clear()
      resolve()
    })
    worker.unref()
    return { worker, waiting, ended }
  }

  function ask(asked: RequestAsked): Promise<ModelRequest> {
    running ??= start()
    const { worker, waiting } = running
    lastNumber += 1
    const answer = Promise.withResolvers<ModelRequest>()
    if (waiting.size === 0) worker.ref()
    waiting.set(lastNumber, answer)
    worker.postMessage({ number: lastNumber, asked } satisfies ToThread)
    return answer.promise
  }

  async function askThread(asked: RequestAsked): Promise<ModelRequest> {
    // The system text and tools are the same for each step: do not send them to the thread.
    const { system, tools } = asked
    const short = { ...asked, system: '', tools: [] }
    const built = await ask(short).catch((cause: unknown) => {
      // The writer has saved what a changed file lost, and the thread opens the file again for its next request.
      if (cause instanceof HoldfastError && cause.code === 'storage_error') return ask(short)
      throw cause
    })
    return { ...built, system, tools }
  }

  return {
    async build(asked) {
      if (isClosed) throw threadDied('it is closed')
      if (status === 'useless') return here.build(asked)
      if (status === 'proven') return askThread(asked)
      running ??= start()
      if (isShort(asked)) return here.build(asked)
      return askThread(asked).catch((cause) => {
        if (status === 'useless') return here.build(asked)
        throw cause
      })
    },

    async close() {
      isClosed = true
      if (running === null) return
      const { worker, ended } = running
      worker.ref()
      if (status === 'proven') worker.postMessage(null satisfies ToThread)
      else void worker.terminate() // it has no requests yet, and may not be ready for a message
      await ended
    },
  }
}

/** Longer windows are never read on the main thread. */
const shortRecords = 1000
const isShort = ({ seq, checkpoint }: RequestAsked): boolean => seq - (checkpoint ?? 0) <= shortRecords

function causeOf(built: Exclude<Built, { readonly type: 'built' }>): Error {
  if (built.type === 'damaged') return new WindowDamaged(built.seq)
  return built.type === 'failed' ? new HoldfastError(built.fault) : new Error(built.why)
}

const threadDied = (why: string): HoldfastError =>
  new HoldfastError(fault('internal', `The request was not built: its thread ended (${why}). Try again.`))

const ownScript = findBundle('./request-worker', import.meta.url)
