import { Worker } from 'node:worker_threads'
import type { ModelRequest, OnProblem, RequestAsked, RequestBuilder } from '@holdfast/core/ports'
import { WindowDamaged } from '@holdfast/core/requests'
import { fault, HoldfastError } from '@holdfast/protocol'
import type { Built, FromThread, RequestSource, ToThread } from './builder.ts'

export type RequestThreadOptions = {
  readonly source: RequestSource
  /** Builds requests until the thread is up for the first time, so that none waits for its start. */
  readonly here: RequestBuilder
  readonly onProblem: OnProblem
  /** The worker to run; ours by default. */
  readonly script?: URL | undefined
}

export interface RequestThread extends RequestBuilder {
  /** Waits for running requests, then ends the thread. */
  close(): Promise<void>
}

type Waiting = PromiseWithResolvers<ModelRequest>
type Running = { readonly worker: Worker; readonly waiting: Map<number, Waiting>; readonly ended: Promise<void> }

/**
 * Builds requests on a worker thread, so that a long context does not block streaming answers. The thread starts when a
 * session is loaded, restarts after a crash, and never keeps the process alive.
 */
export function createRequestThread({
  source,
  here,
  onProblem,
  script = ownScript,
}: RequestThreadOptions): RequestThread {
  let running: Running | null = null
  let standing: 'unproven' | 'proven' | 'useless' = 'unproven'
  let isClosed = false
  let lastNumber = 0

  function start(): Running {
    // Do not pass the program's flags: --input-type, for example, keeps the worker from loading its file.
    const worker = new Worker(script, { workerData: source, execArgv: [], trackUnmanagedFds: false }) // as the store's are
    const waiting = new Map<number, Waiting>()
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    let why = 'it ended'

    worker.on('message', (message: FromThread) => {
      if (message === 'up') {
        standing = 'proven'
        return
      }
      settle(waiting.get(message.number), message.built)
      waiting.delete(message.number)
      if (waiting.size === 0) worker.unref()
    })
    worker.on('error', (cause) => {
      why = cause instanceof Error ? cause.message : String(cause)
      onProblem({ where: 'the thread that puts requests together', cause })
    })
    worker.on('exit', () => {
      if (running?.worker === worker) running = null
      // A thread that never started would not start for the next request either.
      if (standing === 'unproven' && !isClosed) standing = 'useless'
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

  function expect(): void {
    if (standing === 'unproven' && !isClosed) running ??= start()
  }

  return {
    expect,

    async build(asked) {
      if (isClosed) throw threadDied('it is closed')
      expect()
      if (standing !== 'proven') return here.build(asked)
      // What is told apart from messages is the same step after step: it stays here.
      const { system, tools } = asked
      return { ...(await ask({ ...asked, system: '', tools: [] })), system, tools }
    },

    async close() {
      isClosed = true
      if (running === null) return
      const { worker, ended } = running
      worker.ref()
      if (standing === 'proven') worker.postMessage(null satisfies ToThread)
      else void worker.terminate() // it was asked nothing yet, and may be far from ready to hear a word
      await ended
    },
  }
}

function settle(waiting: Waiting | undefined, built: Built): void {
  if (built.type === 'built') waiting?.resolve(built.request)
  else waiting?.reject(causeOf(built))
}

function causeOf(built: Exclude<Built, { readonly type: 'built' }>): Error {
  switch (built.type) {
    case 'damaged':
      return new WindowDamaged(built.seq)
    case 'failed':
      return new HoldfastError(built.fault)
    case 'broken':
      return new Error(built.why)
  }
}

const threadDied = (why: string): HoldfastError =>
  new HoldfastError(
    fault('internal', `The request was not put together: its thread ended (${why}). Try again: it is started anew.`),
  )

/** The worker beside this file, which is TypeScript in the repo and JavaScript once built. */
const ownScript = new URL(
  import.meta.url.endsWith('.ts') ? './request-worker.ts' : './request-worker.js',
  import.meta.url,
)
